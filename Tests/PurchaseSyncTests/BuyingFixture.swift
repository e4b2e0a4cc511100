import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync
import PurchaseSyncTesting
import Testing

/// A shop with three kinds of products, a clock that tests move, and any number of devices.
struct BuyingFixture: Sendable {
  static let gems = StoreProduct(id: "gems", kind: .consumable)
  static let pro = StoreProduct(id: "pro", kind: .nonConsumable)
  static let plan: StoreProduct = {
    var plan = StoreProduct(id: "plan", kind: .autoRenewable, period: .seconds(30 * 86_400))
    plan.groupID = "plans"
    return plan
  }()

  let server: MockServer
  let directory: String
  let shift: Locked<Int64>
  let accounts = SignedIn()

  static func with(_ faults: FaultPlan = .none, _ body: (BuyingFixture) async throws -> Void) async throws {
    let directory = FileManager.default.temporaryDirectory.path + "/Buying-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let shift = Locked<Int64>(0)
    let server = try MockServer(
      databasePath: directory + "/fixture.sqlite", products: [gems, pro, plan], bundleID: "com.example",
      faults: faults, now: { Timestamp.wallClock().adding(milliseconds: shift.value) })
    try server.start()
    defer {
      server.stop()
      do {
        try FileManager.default.removeItem(atPath: directory)
      } catch {
        Issue.record(error, "the temporary directory stays behind")
      }
    }
    try await body(BuyingFixture(server: server, directory: directory, shift: shift))
  }

  private init(server: MockServer, directory: String, shift: Locked<Int64>) {
    (self.server, self.directory, self.shift) = (server, directory, shift)
  }

  /// Time passes for all clocks.
  func pass(hours: Int64) { shift.withLock { $0 += hours * 3_600_000 } }

  func configuration(_ device: String = "phone", vault: (any QueueVault)? = nil) throws -> SyncConfiguration {
    let place = directory + "/" + device
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
    let shift = self.shift
    return SyncConfiguration(
      path: place + "/queue.sqlite", vault: vault, retry: RetryPolicy().scaled(by: 1_000),
      now: { Timestamp.wallClock().adding(milliseconds: shift.value) }
    ).patient
  }

  var store: MockStoreClient { MockStoreClient(server: server, storeAccount: "apple-id") }
  var transport: InProcessTransport { server.transport }

  func open(
    _ configuration: SyncConfiguration? = nil, transport: (any BackendTransport)? = nil
  ) async throws -> SyncEngine {
    let accounts = self.accounts
    return try await SyncEngine.open(
      try configuration ?? self.configuration(), store: store, transport: transport ?? self.transport,
      credentials: { accounts.token(of: $0.account) })
  }

  func pay(_ order: PurchaseOrder) async throws -> StoreTransaction {
    try await store.pay(
      product: order.productID, quantity: order.quantity, accountToken: order.accountToken)
  }

  /// Makes an order, pays it, and waits for its outcome, which is confirmed.
  @discardableResult
  func buy(
    _ product: String, _ engine: SyncEngine, account: String = "alice"
  ) async throws -> (order: PurchaseOrder, transaction: StoreTransaction) {
    let order = try await engine.begin(product: product, account: account)
    let transaction = try await pay(order)
    try await engine.receive(transaction, for: order)
    try await confirm(engine, order)
    return (order, transaction)
  }

  /// Waits for the outcome of an order, and confirms it.
  @discardableResult
  func confirm(_ engine: SyncEngine, _ order: PurchaseOrder) async throws -> Outcome {
    let state = try await snapshot(of: engine) { state in
      state.outcomes.contains { $0.orderNumber == order.number }
    }
    let outcome = try #require(state.outcomes.first { $0.orderNumber == order.number })
    try await engine.confirm(outcome)
    return outcome
  }

  /// Waits until nothing is queued, and confirms nothing.
  func deliverAll(_ engine: SyncEngine) async throws {
    _ = try await snapshot(of: engine) { $0.purchases.isEmpty && $0.pendingFinishes == 0 }
  }

  func order(_ number: String, _ engine: SyncEngine) async throws -> PurchaseOrder? {
    try await engine.orders().first { $0.number == number }
  }

  /// Waits until the backend knows the order in this state.
  func waitForBackend(_ number: String, _ state: OrderState) async throws {
    try await until {
      try server.snapshot().orders.contains { $0.number == number && $0.state == state }
    }
  }
}

/// A directory as a vault that counts its reads.
final class CountingVault: QueueVault {
  let inner: DirectoryVault
  let reads = Locked(0)

  init(_ directory: String) { inner = DirectoryVault(directory: directory) }

  var itemBytes: Int { inner.itemBytes }
  func store(_ item: VaultItem) throws(VaultError) { try inner.store(item) }
  func remove(named name: String) throws(VaultError) { try inner.remove(named: name) }
  func list() throws(VaultError) -> [String] { try inner.list() }
  func item(named name: String) throws(VaultError) -> VaultItem? {
    reads.withLock { $0 += 1 }
    return try inner.item(named: name)
  }
}
