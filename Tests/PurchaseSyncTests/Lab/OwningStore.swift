import PurchaseQueue
import PurchaseSQLite
import PurchaseSync
import PurchaseSyncTesting

/// A store that lists what its account owns, and counts how often it was asked to fetch more.
final class OwningStore: StoreClient {
  struct Offline: Error {}

  private let inner: MockStoreClient
  private let owned: [StoreTransaction]?
  private let isOffline: Bool
  private let hasReceipt: Bool
  private let asked = Locked(0)

  var syncs: Int { asked.value }

  init(
    _ inner: MockStoreClient, owning owned: [StoreTransaction]?, isOffline: Bool = false,
    hasReceipt: Bool = true
  ) {
    (self.inner, self.owned, self.isOffline, self.hasReceipt) = (inner, owned, isOffline, hasReceipt)
  }

  func unfinished() async throws -> StoreListing { try await inner.unfinished() }
  func receipt() async throws -> [UInt8]? { hasReceipt ? try await inner.receipt() : nil }
  func refreshReceipt() async throws -> [UInt8]? { try await inner.refreshReceipt() }
  func finish(transactionIDs: [String]) async throws -> [String: FinishResult] {
    try await inner.finish(transactionIDs: transactionIDs)
  }
  func currentEntitlements() async throws -> [StoreTransaction]? { owned }
  func sync() async throws {
    asked.withLock { $0 += 1 }
    if isOffline { throw Offline() }
  }
}
