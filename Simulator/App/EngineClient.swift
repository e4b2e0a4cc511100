import CommandLineTools
import Foundation
import ProcessFaults
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync
import PurchaseSyncTesting
import ScenarioFormat

/// The engine, embedded as an app embeds it.
struct EngineClient: AppClient {
  private let parts: AppParts
  private let store: MockStoreClient
  private let engine: SyncEngine
  private let listener: Task<Void, Never>
  /// The orders of this launch, by their tokens.
  private let orders = Locked<[UUID: PurchaseOrder]>([:])
  private let confirms: Locked<Bool>
  /// For how many looks the app stays open for notices about orders.
  private let waits = Locked(500)

  init(_ parts: AppParts, _ store: MockStoreClient) async throws {
    self.parts = parts
    self.store = store
    let phone = parts.phone
    engine = try await SyncEngine.open(
      Self.configuration(parts), store: CheckpointStore(Self.noted(store, parts), parts.checkpoints),
      transport: CheckpointTransport(Self.transport(parts), parts.checkpoints),
      credentials: { phone.credential(of: $0.account) })
    parts.steps?.note()
    confirms = Locked(true)
    listener = try await Self.listen(engine, parts, confirms)
  }

  private static func noted(_ store: MockStoreClient, _ parts: AppParts) -> any StoreClient {
    guard let steps = parts.steps else { return store }
    return PlantedStore(base: StepStore(base: store, steps: steps), bug: parts.options.bug)
  }

  private static func transport(_ parts: AppParts) -> any BackendTransport {
    let network = SwitchedTransport(base: URLSessionTransport(base: parts.options.server), phone: parts.phone)
    guard let steps = parts.steps else { return network }
    let verifies = parts.options.verifiesReplies
    let noting = StepTransport(base: network, steps: steps, verifies: verifies)
    return PlantedTransport(base: noting, bug: parts.options.bug)
  }

  private static func configuration(_ parts: AppParts) -> SyncConfiguration {
    let (options, phone, checkpoints) = (parts.options, parts.phone, parts.checkpoints)
    let directory = DirectoryVault(directory: options.vault)
    var configuration = SyncConfiguration(
      path: Device.queue(in: options.container),
      vault: Keychain(directory, isLocked: options.isVaultLocked),
      now: { phone.now() })
    configuration.system = .of(phone.clock)
    configuration.currentAccount = { phone.user }
    configuration.unclaimed = options.unclaimed
    if let entries = options.entries { configuration.limits.entries = entries }
    if options.verifiesReplies { configuration.verifier = Scenario.signature }
    if options.makesOrders { configuration.orderPolicy = .backendFirst(timeLimit: .seconds(5)) }
    configuration.checkpoint = { checkpoints.pass($0) }
    if options.verbose { configuration.log = { Terminal.error("app: \($0)") } }
    return configuration
  }

  private static func listen(
    _ engine: SyncEngine, _ parts: AppParts, _ confirms: Locked<Bool>
  ) async throws -> Task<Void, Never> {
    let events = try await engine.eventStream()
    let seen = SeenOutcomes()
    Task {
      for await _ in seen.arrivals {
        do {
          try await engine.confirm(all: seen.take())
        } catch {
          Terminal.error("app: \(error)")
        }
      }
    }
    return Task {
      defer { seen.end() }
      for await event in events {
        if parts.trace.isOn {
          let record = SyncLogRecord(event)
          parts.trace.note(
            .app, event.kind, record.name,
            detail: ([record.text] + record.keys.map(\.rawValue)).joined(separator: " "))
        }
        guard let outcome = event.outcome else { continue }
        parts.steps?.told(outcome)
        guard confirms.value else { continue }
        seen.add(outcome)
      }
    }
  }

  /// The engine looks at the store by itself.
  func launched() async throws {}

  func order(product: String, account: String, quantity: Int) async throws -> UUID? {
    let order = try await engine.begin(product: product, quantity: quantity, account: account)
    orders.withLock { $0[order.accountToken] = order }
    parts.steps?.note(.ordered(number: order.number, token: order.accountToken, account: order.account))
    return order.accountToken
  }

  func answered(_ result: PurchaseResult, token: UUID?, account: String?) async throws {
    if case .purchased(let transaction) = result { parts.steps?.arrives([transaction]) }
    if let token, let order = orders.value[token] { return try await engine.receive(result, for: order) }
    if case .purchased(let transaction) = result { try await took(transaction, account: account) }
  }

  func confirmNothing() async { confirms.withLock { $0 = false } }

  func took(_ transaction: StoreTransaction, account: String?) async throws {
    parts.steps?.arrives([transaction])
    // If it fails, the store keeps it unfinished, and delivers it again.
    try await engine.receive(transaction)
  }

  func signedIn(_ account: String) async throws { try await engine.wake(.signedIn(account: account)) }
  func adopt(for account: String) async throws { try await engine.adoptDevicePurchases(for: account) }
  func restore() async throws { try await engine.refreshReceipt() }
  func settingsChanged() async throws { try await engine.wake(.foreground) }
  func networkIsBack() async throws { try await engine.wake(.networkBack) }
  func tapped() async throws { try await engine.wake(.userAsked) }

  func workLeft() async throws -> Int {
    let state = try await engine.snapshot()
    let unconfirmed = confirms.value ? state.unconfirmed : 0
    let left =
      state.unsettled - state.quarantined + unconfirmed + state.pendingAdoptions
      + (state.isStoreHoldingMore ? 1 : 0)
    // What the backend has not learned of orders is sent with the next start; here it is waited for once.
    if left == 0, try await engine.pendingNotices() > 0,
      waits.withLock({
        $0 -= 1; return $0 > 0
      })
    {
      return 1
    }
    return left > 0 ? left : try await store.unfinished().transactions.count
  }

  func close() async {
    await engine.shutdown()
    listener.cancel()
  }
}

/// Outcomes that the app has shown. What came while others were confirmed is confirmed together, in one commit.
private final class SeenOutcomes: Sendable {
  private let outcomes = Locked<[Outcome]>([])
  /// An element for outcomes that may wait.
  let arrivals: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  init() {
    (arrivals, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
  }

  func add(_ outcome: Outcome) {
    outcomes.withLock { $0.append(outcome) }
    continuation.yield()
  }

  func take() -> [Outcome] {
    outcomes.withLock { outcomes in
      defer { outcomes = [] }
      return outcomes
    }
  }

  func end() { continuation.finish() }
}

extension SyncEvent {
  /// Its kind in a report.
  fileprivate var kind: Report.Kind {
    switch self {
    case .delivered, .settled: .settled
    case .waiting, .postponed, .signInNeeded: .retry
    case .failed, .backendFault, .queueFull, .quarantined, .recovered, .replyRejected: .fault
    default: .change
    }
  }
}
