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
    let deadline = Date().addingTimeInterval(TimeInterval(options.seconds))
    do {
      switch options.client {
      case .engine:
        return try await EngineClient(options: options, failpoints: failpoints, deadline: deadline).live()
      case .fireAndForget:
        return try await FireAndForgetClient(options: options, failpoints: failpoints).live()
      }
    } catch {
      Terminal.error("app: \(error)")
      return ExitCode.internal
    }
  }
}

/// An app that embeds the engine.
struct EngineClient {
  let options: AppOptions
  let failpoints: Failpoints
  let deadline: Date

  func live() async throws -> Int32 {
    let store = MockStoreClient(base: options.server, storeAccount: options.storeAccount)
    var configuration = SyncConfiguration(
      path: ScenarioRun.Device.queue(in: options.container), vault: DirectoryVault(directory: options.vault),
      retry: RetryPolicy().scaled(by: max(1, options.timeScale)))
    configuration.hook = { failpoints.pass($0) }
    try FileManager.default.createDirectory(atPath: options.container, withIntermediateDirectories: true)
    let engine = try await SyncEngine.open(
      configuration, store: FailpointStore(store, failpoints),
      transport: FailpointTransport(URLSessionTransport(base: options.server), failpoints),
      credentials: { "token-" + $0 })
    let listener = try await listen(engine)
    if let product = options.product { try await buy(product, engine, store) }
    while !(try await isDone(engine, store)), Date() < deadline {
      try await Task.sleep(nanoseconds: 2_000_000)
    }
    await engine.shutdown()
    listener.cancel()
    return ExitCode.ok
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

  private func buy(_ product: String, _ engine: SyncEngine, _ store: MockStoreClient) async throws {
    let order = try await engine.begin(product: product, account: options.account)
    failpoints.pass("payment.before")
    let transaction = try await store.pay(product: product, quantity: 1, accountToken: order.accountToken)
    failpoints.pass("payment.after")
    try await engine.receive(transaction)
  }

  private func isDone(_ engine: SyncEngine, _ store: MockStoreClient) async throws -> Bool {
    let left = try await engine.snapshot()
    guard left.unsettled == left.quarantined, left.finishesOwed == 0, left.unseen == 0 else { return false }
    return try await store.unfinished().transactions.isEmpty
  }
}
