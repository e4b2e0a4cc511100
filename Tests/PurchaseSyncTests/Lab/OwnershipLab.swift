import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// Several devices with one store and one backend, whose clock the test moves.
struct OwnershipLab: Sendable {
  static let plan = StoreProduct(
    subscription: "plan", groupID: "g", period: .milliseconds(30 * 86_400_000))
  static let pro = StoreProduct(id: "pro", kind: .nonConsumable)
  static let gems = StoreProduct(id: "gems", kind: .consumable)

  let server: MockServer
  let directory: String
  private let shift: Locked<Int64>

  static func with(
    _ products: [StoreProduct] = [plan, pro, gems], _ body: (OwnershipLab) async throws -> Void
  ) async throws {
    let directory = FileManager.default.temporaryDirectory.path + "/OwnershipLab-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    defer {
      do { try FileManager.default.removeItem(atPath: directory) } catch {
        print("left behind: \(directory)")
      }
    }
    let shift = Locked<Int64>(0)
    let server = try MockServer(
      databasePath: directory + "/backend.sqlite", products: products, bundleID: "com.example",
      now: { Timestamp.wallClock().adding(milliseconds: shift.value) })
    try server.start()
    defer { server.stop() }
    try await body(OwnershipLab(server: server, directory: directory, shift: shift))
  }

  /// With a plan that alice has bought on her phone, and that the store has renewed since.
  static func withRenewedPlan(
    _ body: (OwnershipLab, _ phone: SyncEngine, _ paid: StoreTransaction) async throws -> Void
  ) async throws {
    try await with { lab in
      let phone = try await lab.open("phone", signedIn: "alice")
      let paid = try await lab.buy("plan", "alice", on: phone)
      lab.pass(days: 29)
      try lab.renew(paid)
      try await body(lab, phone, paid)
      await phone.shutdown()
    }
  }

  /// With that plan on her second device too, which is killed before the app has confirmed it. The body moves the account
  /// that is signed in there.
  static func withUnconfirmedRenewal(
    _ body: (OwnershipLab, SyncConfiguration, _ signedIn: Locked<String?>) async throws -> Void
  ) async throws {
    try await withRenewedPlan { lab, _, _ in
      let signedIn = Locked<String?>("alice")
      var configuration = try lab.configuration("pad", signedIn: nil)
      configuration.currentAccount = { signedIn.value }
      let pad = try await lab.open(configuration)
      _ = try await snapshot(of: pad) { $0.outcomes.map(\.owner) == [.yours] }
      await pad.shutdown()
      try await body(lab, configuration, signedIn)
      signedIn.withLock { $0 = "alice" }
      let again = try await lab.open(configuration)
      #expect(try await again.snapshot().outcomes.map(\.owner) == [.yours])
      await again.shutdown()
    }
  }

  func pass(days: Int64) { shift.withLock { $0 += days * 86_400_000 } }

  var now: Timestamp { Timestamp.wallClock().adding(milliseconds: shift.value) }

  func store(_ account: String = "apple-id") -> MockStoreClient {
    MockStoreClient(server: server, storeAccount: account)
  }

  /// The settings of a device on which this account is signed in; nil for none.
  func configuration(_ device: String, signedIn: String?, vault: String? = nil) throws -> SyncConfiguration {
    let place = directory + "/" + device
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
    let shift = self.shift
    var configuration = SyncConfiguration(
      path: place + "/queue.sqlite",
      vault: DirectoryVault(directory: directory + "/" + (vault ?? device) + "-vault"),
      retry: RetryPolicy().scaled(by: 1_000),
      now: { Timestamp.wallClock().adding(milliseconds: shift.value) }
    ).patient
    configuration.currentAccount = { signedIn }
    return configuration
  }

  func open(
    _ configuration: SyncConfiguration, transport: (any BackendTransport)? = nil,
    store: (any StoreClient)? = nil,
    credentials: @escaping CredentialSource = { "token-" + $0.account }
  ) async throws -> SyncEngine {
    try await SyncEngine.open(
      configuration, store: store ?? self.store(),
      transport: transport ?? server.transport, credentials: credentials)
  }

  func open(_ device: String, signedIn: String?) async throws -> SyncEngine {
    try await open(try configuration(device, signedIn: signedIn))
  }

  func pay(_ product: String, _ token: UUID? = nil, by account: String = "apple-id") async throws
    -> StoreTransaction
  {
    try await store(account).pay(product: product, quantity: 1, accountToken: token)
  }

  /// Buys with an order, and waits until it is done.
  @discardableResult func buy(_ product: String, _ account: String, on engine: SyncEngine) async throws
    -> StoreTransaction
  {
    let order = try await engine.begin(product: product, account: account)
    let paid = try await pay(product, order.accountToken)
    try await engine.receive(paid)
    try await settle(engine)
    return paid
  }

  /// The settings of a device that starts with a copy of another's file, after that one has had a purchase without an
  /// account.
  func restoredBackup(
    from old: String, to new: String, after act: (SyncEngine) async throws -> Void = { _ in }
  ) async throws -> SyncConfiguration {
    let source = try configuration(old, signedIn: nil)
    let engine = try await open(source, store: store(old))
    try await engine.receive(try await pay("gems", by: old))
    try await settle(engine)
    try await act(engine)
    await engine.shutdown()
    let target = try configuration(new, signedIn: nil)
    for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: source.path + suffix) {
      try FileManager.default.copyItem(atPath: source.path + suffix, toPath: target.path + suffix)
    }
    return target
  }

  func renew(_ transaction: StoreTransaction) throws {
    let now = self.now
    try server.withStore { (store) throws(StoreModelError) in
      _ = try store.renew(transactionID: transaction.transactionID, now: now)
    }
  }

  func endRenewal(of transaction: StoreTransaction) throws {
    let now = self.now
    try server.withStore { (store) throws(StoreModelError) in
      _ = try store.setRenewal(on: false, transactionID: transaction.transactionID, now: now)
    }
  }

  /// Confirms each outcome until nothing is left to do. Returns the outcomes.
  @discardableResult func settle(_ engine: SyncEngine) async throws -> [Outcome] {
    var seen: [Outcome] = []
    try await until {
      for outcome in try await engine.snapshot().outcomes {
        seen.append(outcome)
        try await engine.confirm(outcome)
      }
      let rest = try await engine.snapshot()
      let isDone =
        rest.purchases.isEmpty && rest.outcomes.isEmpty && rest.pendingFinishes == 0
        && rest.pendingAdoptions == 0 && !rest.isStoreHoldingMore
      return isDone
    }
    return seen
  }

  /// Waits for outcomes that the store's listing brings.
  func outcomes(_ count: Int, on engine: SyncEngine) async throws -> [Outcome] {
    var seen: [Outcome] = []
    try await until {
      seen += try await settle(engine)
      return seen.count >= count
    }
    return seen
  }

  var owners: [Uploader] { get throws { try server.snapshot().creditOwners } }
}
