import FaultInjection
import Foundation
import PurchaseQueue
import PurchaseSyncTesting

/// `backend` (hidden): the backend as a process of its own, whose store is somebody else's.
struct BackendCommand {
  let options: BackendOptions

  func execute() async -> Int32 {
    let failpoints = Failpoints(options.crash)
    let counts = options.counts
    ParentWatch.start {
      guard let counts else { return }
      do {
        try JSONEncoder().encode(failpoints.counts).write(to: URL(fileURLWithPath: counts))
      } catch {
        Terminal.error("backend: \(counts) could not be written: \(error.localizedDescription)")
      }
    }
    do {
      let server = try WorldServer(
        databasePath: options.database, products: ServedProducts.all, bundleID: ServeCommand.bundleID,
        seed: options.seed, onRequest: { Self.passed($0, failpoints) }, now: Timestamp.wallClock)
      server.setBeforeWrite { failpoints.pass("backend.writing") }
      let byID = ServerAPIVerifier(store: options.store, forge: ReceiptForge(bundleID: ServeCommand.bundleID))
      server.verify(
        by: FailpointVerifier(
          failpoints: failpoints,
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

  private static func passed(_ moment: RequestMoment, _ failpoints: Failpoints) {
    let names = ["/v1/orders": "orders", "/v1/receipts": "receipts", "/v1/claims": "claims"]
    guard moment.method == "POST", let name = names[moment.path] else { return }
    failpoints.pass("backend.\(name).\(moment.phase == .beforeHandling ? "received" : "answering")")
  }
}

/// Passes failpoints around each question to the store.
private struct FailpointVerifier: ReceiptVerifier {
  let failpoints: Failpoints
  let base: HTTPReceiptVerifier

  func answer(to query: VerificationQuery, now: Timestamp) -> StoreAnswer {
    failpoints.pass("backend.store.asking")
    let answer = base.answer(to: query, now: now)
    failpoints.pass("backend.store.asked")
    return answer
  }
}

/// What `backend` is asked to do.
struct BackendOptions: Equatable {
  var database = ""
  var store = URL(fileURLWithPath: "/")
  var port: UInt16 = 0
  var seed: UInt64 = 1
  var crash: Failpoints.Moment?
  var counts: String?

  static func parse(_ arguments: [String]) -> Result<BackendOptions, Command.UsageError> {
    Result { () throws(Command.UsageError) in
      var options = BackendOptions()
      var arguments = Arguments(arguments)
      while let argument = arguments.next() {
        switch argument {
        case "--database": options.database = try arguments.value(of: argument)
        case "--store": options.store = try arguments.url(of: argument)
        case "--port": options.port = try arguments.number(of: argument)
        case "--seed": options.seed = try arguments.number(of: argument)
        case "--crash-at": options.crash = try arguments.passage(of: argument)
        case "--counts": options.counts = try arguments.value(of: argument)
        default: throw Command.UsageError(message: "backend has no option '\(argument)'")
        }
      }
      return options
    }
  }
}

extension Arguments {
  mutating func url(of option: String) throws(Command.UsageError) -> URL {
    guard let url = URL(string: try value(of: option)) else {
      throw Command.UsageError(message: "\(option) needs a URL")
    }
    return url
  }

  /// `NAME:HIT`, or `NAME` for the first.
  mutating func passage(of option: String) throws(Command.UsageError) -> Failpoints.Moment {
    let parts = try value(of: option).split(separator: ":").map(String.init)
    guard let name = parts.first, let hit = parts.count > 1 ? Int(parts[1]) : 1 else {
      throw Command.UsageError(message: "\(option) needs NAME:HIT")
    }
    return .passage(of: name, hit: hit)
  }
}
