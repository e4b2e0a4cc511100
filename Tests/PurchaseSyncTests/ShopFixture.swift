import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// What the app has given its user: a credit for each transaction and verdict.
final class Wallet: Sendable {
  struct Failure: Error {}

  private let credits = Locked<[Outcome]>([])
  private let isBroken = Locked(false)

  var outcomes: [Outcome] { credits.value }
  var products: [String] { outcomes.filter(\.isFulfilled).compactMap { $0.purchase?.productID } }

  func breaks(_ breaks: Bool) { isBroken.withLock { $0 = breaks } }

  func take(_ outcome: Outcome) throws {
    guard !isBroken.value else { throw Failure() }
    credits.withLock { $0.append(outcome) }
  }
}

extension BuyingFixture {
  /// A shop on one device. Without `waiting` a purchase waits a century for the backend.
  func shop(
    _ wallet: Wallet, configuration: SyncConfiguration? = nil, store: (any SellingStore)? = nil,
    transport: (any BackendTransport)? = nil, waiting: Duration = .seconds(3_000_000_000),
    hooks: SystemHooks = SystemHooks()
  ) throws -> Shop {
    let accounts = self.accounts
    return Shop(
      store: store ?? self.store, backend: .transport(transport ?? self.transport),
      configuration: try configuration ?? self.configuration(), hooks: hooks,
      waiting: waiting, credentials: { accounts.token(of: $0.account) }, fulfil: { try wallet.take($0) })
  }

  /// One shop, closed at the end.
  static func withShop(
    _ faults: FaultPlan = .none, waiting: Duration = .seconds(3_000_000_000),
    _ body: (BuyingFixture, Shop, Wallet) async throws -> Void
  ) async throws {
    try await with(faults) { fixture in
      let wallet = Wallet()
      let shop = try fixture.shop(wallet, waiting: waiting)
      try await body(fixture, shop, wallet)
      await shop.close()
    }
  }
}

/// A store whose sheet does what a test says.
struct SheetStore: SellingStore {
  let inner: MockStoreClient
  /// How often it was asked for its list.
  var listings = Locked(0)
  var sheet: @Sendable (PurchaseOrder) async throws -> PurchaseResult

  var updates: AsyncStream<StoreTransaction> { inner.updates }
  func purchase(_ order: PurchaseOrder) async throws -> PurchaseResult { try await sheet(order) }
  func unfinished() async throws -> StoreListing {
    listings.withLock { $0 += 1 }
    return try await inner.unfinished()
  }
  func receipt() async throws -> [UInt8]? { try await inner.receipt() }
  func refreshReceipt() async throws -> [UInt8]? { try await inner.refreshReceipt() }
  func finish(transactionIDs: [String]) async throws -> [String: FinishResult] {
    try await inner.finish(transactionIDs: transactionIDs)
  }
}
