import CommandLineTools
import Foundation
import ProcessFaults
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting
import ScenarioFormat

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The app on the phone: one launch of it, until nothing is left to do or until it is killed.
struct SimulatedApp {
  let options: AppOptions

  func execute() async -> Int32 {
    ParentWatch.start {}
    let trace = AppTrace(isOn: options.isTraced)
    do {
      let clock = try FastClock(options.clock)
      let phone = try PhoneState(
        signedIn: options.signedIn, clock: clock, clockShift: options.clockShift,
        clockFile: Device.clock(beside: options.container))
      let steps = try DeviceSteps(options)
      let checkpoints = Checkpoints(options.crash) { checkpoint in
        trace.passed(checkpoint)
        steps?.passed(checkpoint)
      }
      let parts = AppParts(
        options: options, checkpoints: checkpoints, phone: phone, trace: trace, steps: steps)
      try FileManager.default.createDirectory(
        atPath: options.container, withIntermediateDirectories: true)
      let store = MockStoreClient(base: options.store ?? options.server, device: options.phone) {
        ClockedTransport(base: $0, clock: clock)
      }
      let code = try await AppLaunch(parts, store, try await Self.client(parts, store)).run()
      writeCounts(parts.checkpoints)
      return code
    } catch {
      Terminal.error("app: \(error)")
      return ExitCode.internal
    }
  }

  private static func client(_ parts: AppParts, _ store: MockStoreClient) async throws -> any AppClient {
    switch parts.options.client {
    case .engine: try await EngineClient(parts, store)
    case .fireAndForget: FireAndForgetClient(parts, store)
    case .finishFirst: RetryingClient(parts, store, try FinishFirst(parts, store))
    case .defaultsList: RetryingClient(parts, store, try DefaultsList(parts, store))
    case .receiptOnly: ReceiptOnlyClient(parts, store)
    case .keychainList: RetryingClient(parts, store, try KeychainList(parts, store))
    case .revenuecatRule: RevenueCatRuleClient(parts, store)
    case .segmentRule: RetryingClient(parts, store, try SegmentRule(parts, store))
    }
  }

  /// Writes how often each checkpoint was passed: kills are planned by that.
  private func writeCounts(_ checkpoints: Checkpoints) {
    guard let path = options.counts else { return }
    do {
      try JSONEncoder().encode(checkpoints.counts).write(to: URL(fileURLWithPath: path))
    } catch {
      Terminal.error("app: \(path) could not be written: \(error.localizedDescription)")
    }
  }
}

/// One launch of the app, step by step.
struct AppLaunch {
  private let parts: AppParts
  private let store: MockStoreClient
  private let client: any AppClient

  init(_ parts: AppParts, _ store: MockStoreClient, _ client: any AppClient) {
    (self.parts, self.store, self.client) = (parts, store, client)
  }

  /// Returns the exit code.
  func run() async throws -> Int32 {
    var steps = parts.options.steps[...]
    // A disk that is full when the app starts is full before it has looked at the store.
    while steps.first == .fillDisk {
      steps.removeFirst()
      parts.trace.note(.person, to: .app, .step, AppStep.fillDisk.words)
      await attempt(AppStep.fillDisk.words) { try DiskSpace.end() }
    }
    await attempt("launch") { try await client.launched() }
    var end = AppPatience.End.done
    for (number, step) in zip(steps.indices, steps) {
      parts.trace.note(.person, to: .app, .step, step.words)
      await attempt(step.words) {
        guard case .use(let milliseconds) = step else { return try await perform(step) }
        let isLast = number == steps.indices.last
        end = await use(milliseconds: milliseconds, until: isLast ? parts.options.openUntil : nil)
      }
    }
    // The scenario says how long the app is open; otherwise it is open until nothing is left to do.
    if case .use? = parts.options.steps.last {
    } else {
      end = await useUntilDone()
    }
    await client.close()
    return end == .outOfTime ? ExitCode.undecided : ExitCode.ok
  }

  /// A failure does not end the app: a person sees an alert, and goes on.
  private func attempt(_ what: String, _ body: () async throws -> Void) async {
    do {
      try await body()
    } catch {
      parts.trace.note(.app, .fault, "\(what): failed", detail: "\(error)")
      Terminal.error("app: \(what): \(error)")
    }
  }

  /// Uses the app for a time, or until nothing is left to do.
  ///
  /// - Parameter gate: The path of a file. If there is one, the app stays open until the file exists.
  private func use(milliseconds: Int64, until gate: String?) async -> AppPatience.End {
    let clock = parts.phone.clock
    let end = clock.now().adding(milliseconds: milliseconds * clock.rate)
    guard let gate else { return await wait(isLimited: false) { $0 == 0 || clock.now() >= end } }
    return await wait { _ in clock.now() >= end && FileManager.default.fileExists(atPath: gate) }
  }

  private func useUntilDone() async -> AppPatience.End { await wait { $0 == 0 } }

  /// Waits for a condition that depends on how much work is left.
  ///
  /// - Parameter isLimited: Whether the wait ends when there is no progress.
  private func wait(isLimited: Bool = true, for isOver: (Int) -> Bool) async -> AppPatience.End {
    var hasFailed = false
    var lastSign = ContinuousClock.now
    var patience = AppPatience(
      seconds: parts.options.seconds, waitsForProgress: parts.options.client == .engine)
    while true {
      var left = -1
      do {
        left = try await client.workLeft()
      } catch {
        // The store may not answer for a while. That does not end the wait.
        if !hasFailed { await attempt("use") { throw error } }
        hasFailed = true
      }
      if isOver(left) { return .done }
      if ContinuousClock.now - lastSign > .seconds(1) {
        lastSign = .now
        // The parent takes a long silence for a hang.
        Terminal.line("")
      }
      let passages = parts.checkpoints.counts.values.reduce(0, +)
      if let end = patience.end(left: left, passages: passages), isLimited { return end }
      do {
        try await Task.sleep(for: patience.pause)
      } catch {
        return .done
      }
    }
  }

  private func perform(_ step: AppStep) async throws {
    let phone = parts.phone
    if step.changesWhatCanBeDelivered { Terminal.line(DeliveryChange(at: phone.clock.now()).line) }
    switch step {
    case .buy(let product, let account, let quantity):
      phone.signIn(account)
      let token = try await client.order(product: product, account: account, quantity: quantity)
      try await pay(product, quantity: quantity, token: token, account: account)
    case .buyWithoutOrder(let product): try await pay(product, token: nil, account: phone.user)
    case .buyPromoted(let account): try await buyPromoted(account)
    case .signIn(let account):
      phone.signIn(account)
      try await client.signedIn(account)
    case .signOut(let account): phone.signOut(account)
    case .adopt(let account): try await client.adopt(for: account)
    case .restore: try await client.restore()
    case .useStoreAccount(let account):
      try await store.signIn(account)
      try await client.settingsChanged()
    case .jumpClock(let milliseconds):
      try phone.jump(by: milliseconds)
      // The system informs apps that the clock was set.
      try await client.settingsChanged()
    case .fillDisk: try DiskSpace.end()
    case .use: break
    case .dismissSheets(let product, let account, let count):
      phone.signIn(account)
      for _ in 0..<count { _ = try await client.order(product: product, account: account, quantity: 1) }
    case .buyHeardFirst(let product, let account):
      phone.signIn(account)
      let token = try await client.order(product: product, account: account, quantity: 1)
      try await pay(product, token: token, account: account, isHeardFirst: true)
    case .neverConfirm: await client.confirmNothing()
    case .goOffline: phone.join(.offline)
    case .meetPortal: phone.join(.portal(requests: 0))
    case .goOnline:
      phone.join(.online)
      try await client.networkIsBack()
    case .tap(let count): for _ in 0..<count { try await client.tapped() }
    }
  }

  private func pay(
    _ product: String, quantity: Int = 1, token: UUID?, account: String?, isHeardFirst: Bool = false
  ) async throws {
    parts.checkpoints.pass(.paymentBefore)
    let result = try await store.purchase(
      product: product, quantity: quantity, accountToken: token)
    parts.checkpoints.pass(.paymentAfter)
    switch result {
    case .purchased(let transaction): if isHeardFirst { try await client.took(transaction, account: account) }
    case .pending: parts.trace.note(.store, to: .app, .answer, "pending: another person has to approve")
    case .cancelled: parts.trace.note(.store, to: .app, .answer, "cancelled")
    }
    try await client.answered(result, token: token, account: account)
  }

  private func buyPromoted(_ account: String) async throws {
    parts.phone.signIn(account)
    for product in try await store.promoted() {
      let token = try await client.order(product: product.productID, account: account, quantity: 1)
      parts.checkpoints.pass(.paymentBefore)
      try await store.approve(requestID: product.requestID, accountToken: token)
      parts.checkpoints.pass(.paymentAfter)
      for transaction in try await store.unfinished().transactions {
        try await client.took(transaction, account: account)
      }
    }
  }
}

extension AppStep {
  /// For a report.
  var words: String {
    switch self {
    case .buy(let product, let account, let quantity):
      "\(account) buys \(quantity > 1 ? "\(quantity) of " : "")\(product)"
    case .buyWithoutOrder(let product): "buys \(product) without an order"
    case .buyPromoted(let account): "\(account) pays in the app what was started in the store"
    case .signIn(let account): "\(account) signs in"
    case .signOut(let account): "\(account) signs out"
    case .adopt(let account): "\(account) adopts the purchases of the device"
    case .restore: "restores purchases"
    case .useStoreAccount(let name): "signs in to the store as \(name)"
    case .jumpClock(let milliseconds): "sets the clock by \(milliseconds / 3_600_000) h"
    case .fillDisk: "fills the disk"
    case .use(let milliseconds): "uses the app, \(milliseconds) ms at most"
    case .dismissSheets(let product, let account, let count):
      "\(account) closes the sheet for \(product) \(count) times"
    case .buyHeardFirst(let product, let account): "\(account) buys \(product), and the update comes first"
    case .neverConfirm: "the app confirms no outcome any more"
    case .goOffline: "the backend cannot be reached any more"
    case .meetPortal: "joins a network with a sign-in page"
    case .goOnline: "the network is back"
    case .tap(let count): "taps 'try again' \(count) times"
    }
  }
}

/// The disk of the phone.
enum DiskSpace {
  /// From now on no file of this process can grow. Each write fails with EFBIG; ENOSPC would need a disk of its own.
  static func end() throws {
    // The default action of this signal kills the process.
    signal(SIGXFSZ, SIG_IGN)
    var limit = rlimit(rlim_cur: 0, rlim_max: rlim_t.max)
    #if os(Linux)
      let result = unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    #else
      let result = unsafe setrlimit(RLIMIT_FSIZE, &limit)
    #endif
    guard result == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EINVAL) }
  }
}
