import Testing

@testable import Exploration

/// The lean store, where the simulations could feed themselves.
@Suite struct LeanStoreTests {
  @Test func `a transaction is signed anew a few times only`() {
    var store = LeanStore(storeAccounts: 1)
    let sale = store.charge(
      LeanStore.Sale(
        buyer: 0, product: 0, paidAt: 0, order: -1, original: 0, forgetsToken: false, proofs: .signed,
        poison: .none, phone: 0))
    for _ in 0..<10 { store.resign(sale) }
    #expect(store.sales[sale].version == 3)
  }

  private static func subscription() -> (store: LeanStore, sale: Int) {
    var store = LeanStore(storeAccounts: 1)
    let sale = store.charge(
      LeanStore.Sale(
        buyer: 0, product: 2, paidAt: 1_000, order: -1, original: 0, forgetsToken: false, proofs: .signed,
        poison: .none, expiresAt: 90_000, phone: 0))
    return (store, sale)
  }

  private enum Change: CaseIterable { case upgrade, refund, reversal }

  private static func change(_ store: inout LeanStore, _ sale: Int, _ change: Change, at now: Int64) {
    switch change {
    case .upgrade: _ = store.renew(sale, isUpgrade: true, at: now)
    case .refund: _ = store.refund(sale, at: now)
    case .reversal: _ = store.reverseRefund(sale, at: now)
    }
  }

  /// From that moment the app has to take it: not from the payment, and not never.
  @Test(arguments: Change.allCases)
  private func `what changes after it was finished is listed since the change`(change: Change) {
    var (store, sale) = Self.subscription()
    if change == .reversal { _ = store.refund(sale, at: 2_000) }
    let isFinished = store.finish(sale, as: 0)
    #expect(isFinished)
    Self.change(&store, sale, change, at: 5_000)
    #expect(store.sales[sale].isListed)
    #expect(store.sales[sale].listedAt == 5_000)
  }

  @Test func `what changes while the store lists it is listed since the payment`() {
    var (store, sale) = Self.subscription()
    Self.change(&store, sale, .refund, at: 5_000)
    #expect(store.sales[sale].listedAt == 1_000)
  }
}
