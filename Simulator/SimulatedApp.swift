import FaultInjection
import Foundation
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting

/// The app on the device: one run of it, from launch until nothing is left to do, or until it is killed.
struct SimulatedApp {
  let options: AppOptions

  func execute() async -> Int32 {
    let failpoints = Failpoints(options.crash)
    do {
      switch options.client {
      case .engine: return try await EngineClient(options: options, failpoints: failpoints).live()
      case .fireAndForget:
        return try await FireAndForgetClient(options: options, failpoints: failpoints).live()
      }
    } catch {
      Terminal.error("app: \(error)")
      return ExitCode.internal
    }
  }
}

/// Who is signed in to the app, and what its clock says.
final class PhoneState: Sendable {
  private let lock = NSLock()
  private nonisolated(unsafe) var accounts: Set<String>
  private nonisolated(unsafe) var offset: Int64 = 0

  init(signedIn: [String]) { unsafe accounts = Set(signedIn) }

  func credential(of account: String) -> String? {
    lock.lock()
    defer { lock.unlock() }
    return unsafe accounts.contains(account) ? "token-" + account : nil
  }

  func signIn(_ account: String) {
    lock.lock()
    defer { lock.unlock() }
    unsafe accounts.insert(account)
  }

  func signOut(_ account: String) {
    lock.lock()
    defer { lock.unlock() }
    unsafe accounts.remove(account)
  }

  func jump(by milliseconds: Int64) {
    lock.lock()
    defer { lock.unlock() }
    unsafe offset += milliseconds
  }

  func now() -> Timestamp {
    lock.lock()
    defer { lock.unlock() }
    return Timestamp.wallClock().adding(milliseconds: unsafe offset)
  }
}

/// An app that embeds the engine.
struct EngineClient {
  let options: AppOptions
  let failpoints: Failpoints

  func live() async throws -> Int32 {
    let phone = PhoneState(signedIn: options.signedIn)
    let store = MockStoreClient(base: options.server, device: Scenario.phone)
    try FileManager.default.createDirectory(atPath: options.container, withIntermediateDirectories: true)
    let engine = try await SyncEngine.open(
      configuration(phone), store: FailpointStore(store, failpoints),
      transport: FailpointTransport(URLSessionTransport(base: options.server), failpoints),
      credentials: { phone.credential(of: $0) })
    let listener = try await listen(engine)
    for step in options.steps { try await perform(step, engine, store, phone) }
    // The story says how long the app is open, or it is open until nothing is left to do.
    if case .use? = options.steps.last {
    } else {
      try await use(engine, store, milliseconds: options.seconds * 1_000)
    }
    await engine.shutdown()
    listener.cancel()
    return ExitCode.ok
  }

  private func configuration(_ phone: PhoneState) -> SyncConfiguration {
    var configuration = SyncConfiguration(
      path: ScenarioRun.Device.queue(in: options.container), vault: DirectoryVault(directory: options.vault),
      retry: RetryPolicy().scaled(by: max(1, options.timeScale)), now: { phone.now() })
    if let entries = options.entries { configuration.limits.entries = entries }
    configuration.hook = { failpoints.pass($0) }
    if options.verbose { configuration.log = { Terminal.error("app: \($0)") } }
    return configuration
  }

  private func listen(_ engine: SyncEngine) async throws -> Task<Void, Never> {
    let events = try await engine.eventStream()
    return Task {
      for await event in events {
        guard case .delivered(let outcome) = event else { continue }
        do {
          try await engine.confirm(outcome)
        } catch {
          Terminal.error("app: \(error)")
        }
      }
    }
  }

  private func perform(
    _ step: AppStep, _ engine: SyncEngine, _ store: MockStoreClient, _ phone: PhoneState
  ) async throws {
    switch step {
    case .buy(let product, let account):
      let order = try await engine.begin(product: product, account: account)
      try await pay(product, token: order.accountToken, engine, store)
    case .buyWithoutOrder(let product): try await pay(product, token: nil, engine, store)
    case .signIn(let account):
      phone.signIn(account)
      try await engine.wake(.signedIn(account: account))
    case .signOut(let account): phone.signOut(account)
    case .claim(let account): try await engine.claimDevicePurchases(for: account)
    case .useStoreAccount(let account):
      try await store.signIn(account)
      try await engine.wake(.foreground)
    case .jumpClock(let milliseconds):
      phone.jump(by: milliseconds)
      // The system tells apps that the clock was set.
      try await engine.wake(.foreground)
    case .use(let milliseconds): try await use(engine, store, milliseconds: milliseconds)
    }
  }

  private func pay(
    _ product: String, token: UUID?, _ engine: SyncEngine, _ store: MockStoreClient
  ) async throws {
    failpoints.pass("payment.before")
    let transaction = try await store.pay(product: product, quantity: 1, accountToken: token)
    failpoints.pass("payment.after")
    do {
      try await engine.receive(transaction)
    } catch {
      // The store keeps it unfinished, and delivers it again.
      Terminal.error("app: \(error)")
    }
  }

  private func use(_ engine: SyncEngine, _ store: MockStoreClient, milliseconds: Int64) async throws {
    let end = ContinuousClock.now.advanced(by: .milliseconds(milliseconds))
    while ContinuousClock.now < end, !(try await isDone(engine, store)) {
      try await Task.sleep(for: .milliseconds(2))
    }
  }

  private func isDone(_ engine: SyncEngine, _ store: MockStoreClient) async throws -> Bool {
    let left = try await engine.snapshot()
    guard left.unsettled == left.quarantined, left.unseen == 0, left.claimsOwed == 0 else { return false }
    return try await store.unfinished().transactions.isEmpty
  }
}
