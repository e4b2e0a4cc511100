import PurchaseQueue

extension StoreModel {
  mutating func note(_ change: StoreChange, _ transactionID: String, now: Timestamp) {}
}
