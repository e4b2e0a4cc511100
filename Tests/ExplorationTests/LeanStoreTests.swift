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
}
