import Foundation
import PurchaseSQLite
import PurchaseSync
import PurchaseSyncTesting
import TestSupport

/// A store whose sheet does what a walk says. As StoreKit's, its list of entitlements has no consumables.
struct MoodyStore: SellingStore {
  enum Sheet: Sendable, CaseIterable {
    case pays, isSlow, isCancelled, paysAndSaysCancelled, paysAndThrows, isUnavailable
  }

  let inner: MockStoreClient
  let sheet = Locked(Sheet.pays)
  let sleep: @Sendable (Int64) async throws -> Void

  var updates: AsyncStream<StoreTransaction> { inner.updates }

  func purchase(_ order: PurchaseOrder) async throws -> PurchaseResult {
    switch sheet.value {
    case .pays: return try await inner.purchase(order)
    case .isSlow:
      try await sleep(20_000)
      return try await inner.purchase(order)
    case .isCancelled: return .cancelled
    case .paysAndSaysCancelled:
      _ = try await inner.purchase(order)
      return .cancelled
    case .paysAndThrows:
      _ = try await inner.purchase(order)
      throw URLError(.timedOut)
    case .isUnavailable: throw StoreError.productUnavailable(productID: order.productID)
    }
  }

  func unfinished() async throws -> StoreListing { try await inner.unfinished() }
  func currentEntitlements() async throws -> [StoreTransaction]? { [] }
  func receipt() async throws -> [UInt8]? { try await inner.receipt() }
  func refreshReceipt() async throws -> [UInt8]? { try await inner.refreshReceipt() }
  func finish(transactionIDs: [String]) async throws -> [String: FinishResult] {
    try await inner.finish(transactionIDs: transactionIDs)
  }
}

/// Random numbers that tasks share.
final class Dice: Sendable {
  private let random: Locked<SplitMix64>

  /// Those of random walks.
  static let seeds = LongTests.seeds(short: 4, long: 30)

  init(_ seed: UInt64) { random = Locked(SplitMix64(seed: seed)) }

  /// From 0 to `count - 1`.
  func pick(_ count: Int) -> Int { Int(random.withLock { $0.next() } % UInt64(count)) }

  func one<T>(of list: [T]) -> T { list[pick(list.count)] }
}

/// Tasks that a walk begins, and waits for at its end.
final class WalkTasks: Sendable {
  private let tasks = Locked<[Task<Void, Never>]>([])

  /// Runs a call. Its error is an answer like any other; the walk's end shows whether anything was lost.
  func begin(_ call: @escaping @Sendable () async throws -> Void) {
    let task = Task {
      do { try await call() } catch { return }
    }
    tasks.withLock { $0.append(task) }
  }

  /// As `begin`, for a call that the walk waits for.
  func run(_ call: @escaping @Sendable () async throws -> Void) async {
    do { try await call() } catch { return }
  }

  func cancelOne(_ dice: Dice) {
    let all = tasks.value
    if !all.isEmpty { dice.one(of: all).cancel() }
  }

  func cancelAll() { for task in tasks.value { task.cancel() } }

  func wait() async { for task in tasks.value { await task.value } }
}
