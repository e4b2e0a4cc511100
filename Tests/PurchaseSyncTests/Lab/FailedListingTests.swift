import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// The store's list fails or is late, and the app stays in front: no wake comes.
@Suite struct FailedListingTests {
  private enum Trouble: CaseIterable { case throwsError, hangs, isNotComplete }

  /// Its updates never come. Its list fails so many times; it is counted.
  private struct FailingStore: SellingStore {
    let inner: MockStoreClient
    let trouble: Trouble
    let failures: Int
    let sleep: @Sendable (Int64) async throws -> Void
    let lists = Locked(0)

    var updates: AsyncStream<StoreTransaction> { AsyncStream { _ in } }
    func purchase(_ order: PurchaseOrder) async throws -> PurchaseResult { try await inner.purchase(order) }
    func unfinished() async throws -> StoreListing {
      let fails = lists.withLock {
        $0 += 1
        return $0 <= failures
      }
      guard fails else { return try await inner.unfinished() }
      switch trouble {
      case .throwsError: throw SyncError.store(reason: "a test")
      case .hangs: try await sleep(300 * 86_400_000)
      case .isNotComplete: break
      }
      return StoreListing(transactions: [], isComplete: false)
    }
    func finish(transactionIDs: [String]) async throws -> [String: FinishResult] {
      try await inner.finish(transactionIDs: transactionIDs)
    }
  }

  /// Pays and dies; the next launch has this store. No wake comes.
  private static func nextLaunch(
    _ trouble: Trouble, failures: Int, passes: Duration,
    _ check: @escaping @Sendable (OutcomeBook, ShopStatus, Int) throws -> Void
  ) async throws {
    try await ShopLab.run { lab in
      let (phone, book) = (lab.phone(), OutcomeBook())
      try await phone.payAndDie()
      try await phone.launch { app in
        let store = FailingStore(inner: app.store, trouble: trouble, failures: failures, sleep: app.sleep)
        let shop = app.shop(store: store) { book.take($0) }
        try await shop.signedIn(as: "alice")
        try await lab.pass(passes)
        try check(book, await shop.status(), store.lists.value)
        await shop.close()
      }
    }
  }

  @Test(arguments: [0, 1, 2])
  func `a purchase on a list that fails is not left until the next foreground`(trouble: Int) async throws {
    try await Self.nextLaunch(Trouble.allCases[trouble], failures: 3, passes: .seconds(240)) {
      book, status, _ in
      #expect(book.products == [ShopLab.gems])
      #expect(status.lateCalls.isEmpty)
    }
  }

  @Test func `a store whose list always fails is asked at the pace of the backoff`() async throws {
    let ceiling = RetryPolicy().ceilingMilliseconds
    try await Self.nextLaunch(.throwsError, failures: .max, passes: .milliseconds(10 * ceiling)) {
      _, _, lists in
      #expect(lists > 10)
      #expect(lists < 25)
    }
  }
}
