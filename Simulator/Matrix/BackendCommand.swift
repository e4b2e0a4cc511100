import CommandLineTools
import Foundation
import ProcessFaults
import PurchaseQueue
import PurchaseSyncTesting
import ScenarioFormat

/// The hidden command `backend`: the backend as a process of its own. Its store runs in the parent.
struct BackendCommand {
  let options: BackendOptions

  func execute() async -> Int32 {
    let checkpoints = Checkpoints(options.crash)
    let counts = options.counts
    ParentWatch.start {
      guard let counts else { return }
      do {
        try JSONEncoder().encode(checkpoints.counts).write(to: URL(fileURLWithPath: counts))
      } catch {
        Terminal.error("backend: \(counts) could not be written: \(error.localizedDescription)")
      }
    }
    do {
      let clock = try FastClock(options.clock)
      let steps = try StepChannel.ofChild(options.specification).map(ServerSteps.init)
      let server = try MockServer(
        databasePath: options.database, products: ServedProducts.all, bundleID: ServeCommand.bundleID,
        seed: options.seed,
        onRequest: { moment in
          steps?.passed(moment)
          Self.passed(moment, checkpoints)
        }, now: { clock.now() })
      steps?.watch(server)
      server.setBeforeWrite { checkpoints.pass(.writing) }
      let byID = ServerAPIVerifier(store: options.store, forge: ReceiptForge(bundleID: ServeCommand.bundleID))
      server.verify(
        by: CheckpointVerifier(
          checkpoints: checkpoints,
          base: HTTPReceiptVerifier(
            production: options.store.appendingPathComponent("verifyReceipt"),
            sandbox: options.store.appendingPathComponent("sandbox/verifyReceipt"), password: nil,
            others: byID)))
      try server.start(port: options.port)
      Terminal.line("\(server.baseURL.absoluteString)")
      // Until its standard input ends.
      while true { try await Task.sleep(for: .seconds(3_600)) }
    } catch {
      Terminal.error("backend: \(error)")
      return ExitCode.internal
    }
  }

  private static func passed(_ moment: RequestMoment, _ checkpoints: Checkpoints) {
    let isBefore = moment.phase == .beforeHandling
    switch (moment.method, moment.path) {
    case ("POST", "/v1/orders"): checkpoints.pass(isBefore ? .ordersReceived : .ordersAnswering)
    case ("POST", "/v1/receipts"): checkpoints.pass(isBefore ? .receiptsReceived : .receiptsAnswering)
    case ("POST", "/v1/adoptions"): checkpoints.pass(isBefore ? .adoptionsReceived : .adoptionsAnswering)
    default: return
    }
  }
}

/// Passes checkpoints around each question to the store.
private struct CheckpointVerifier: ReceiptVerifier {
  let checkpoints: Checkpoints
  let base: HTTPReceiptVerifier

  func answer(to query: VerificationQuery, now: Timestamp) -> StoreAnswer {
    checkpoints.pass(.storeAsking)
    let answer = base.answer(to: query, now: now)
    checkpoints.pass(.storeAsked)
    return answer
  }
}

/// The options of `backend`.
struct BackendOptions: Equatable, CommandOptions {
  static let command = "backend"

  var database = ""
  var store = URL(fileURLWithPath: "/")
  var port: UInt16 = 0
  /// The clock of the run.
  var clock = FastClock.Words()
  var seed: UInt64 = 1
  var crash: Checkpoints.Moment?
  var counts: String?
  /// The pipe of the trace for the specification; nil for none.
  var specification: String?

  static var table: OptionTable<Self> {
    OptionTable([
      .text("--database", \.database),
      OptionTable.Row(name: "--store") { $0.store = try $1.url(of: "--store") },
      .number("--port", \.port), .number("--seed", \.seed),
      OptionTable.Row(name: "--crash-at") { $0.crash = try $1.passage(of: "--crash-at") },
      .text("--counts", \.counts), .text("--specification", \.specification),
      OptionTable.Row(name: "--clock") { $0.clock = try $1.clock(of: "--clock") },
    ])
  }
}
