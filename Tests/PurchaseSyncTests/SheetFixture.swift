import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// What a sheet does when it does not say the truth, or not all of it.
enum SheetLie: String, CaseIterable, Sendable {
  case cancelled, pending, unknownError, unknownAnswer, networkError, taskCancelled

  var isError: Bool { ![.cancelled, .pending].contains(self) }

  func end() throws -> PurchaseResult {
    switch self {
    case .cancelled: return .cancelled
    case .pending: return .pending
    case .unknownError: throw NSError(domain: "SKErrorDomain", code: 0)
    case .unknownAnswer: throw StoreError.unknownAnswer
    case .networkError: throw NSError(domain: NSURLErrorDomain, code: -1_001)
    case .taskCancelled: throw CancellationError()
    }
  }
}

/// Shops in a lab, for sheets that end in each way.
enum SheetFixture {
  static let gems = StoreProduct(id: "gems", kind: .consumable)
  static let coins = StoreProduct(id: "coins", kind: .consumable)
  static let pro = StoreProduct(id: "pro", kind: .nonConsumable)
  static let gold = StoreProduct(
    subscription: "gold", groupID: "plans", level: 1, period: .seconds(30 * 86_400))
  static let bronze = StoreProduct(
    subscription: "bronze", groupID: "plans", level: 2, period: .seconds(30 * 86_400))

  static func run(_ body: @escaping @Sendable (AppLab) async throws -> Void) async throws {
    try await AppLab.run(products: [gems, coins, pro, gold, bronze], body)
  }
}

extension LabApp {
  /// A shop of this launch. `user`: the account that uses the app.
  func till(
    _ wallet: Wallet, user: Locked<String?> = Locked("alice"), makesOrders: Bool = true,
    store: (any SellingStore)? = nil, waiting: Duration = .seconds(30)
  ) -> Shop {
    var configuration = self.configuration
    configuration.currentAccount = { user.value }
    configuration.orderPolicy = makesOrders ? .backendOnly : .deviceOnly
    return Shop(
      store: store ?? self.store, backend: backend, configuration: configuration, waiting: waiting,
      credentials: { "token-" + $0.account }, fulfil: { try wallet.take($0) })
  }
}

/// The mock's store, whose calls a test counts.
struct CountedStore: SellingStore {
  let inner: MockStoreClient
  let listings = Locked(0)

  var updates: AsyncStream<StoreTransaction> { inner.updates }
  func purchase(_ order: PurchaseOrder) async throws -> PurchaseResult { try await inner.purchase(order) }
  func unfinished() async throws -> StoreListing {
    listings.withLock { $0 += 1 }
    return try await inner.unfinished()
  }
  func finish(transactionIDs: [String]) async throws -> [String: FinishResult] {
    try await inner.finish(transactionIDs: transactionIDs)
  }
}
