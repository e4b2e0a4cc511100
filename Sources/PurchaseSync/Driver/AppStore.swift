/// What the engine needs of the store.
public protocol AppStore: Sendable {
  /// The transactions that the app has not finished, with their proofs.
  func unfinishedTransactions() async throws -> [StoreTransaction]
  /// Tells the store that a transaction is done. One that is finished already is fine.
  func finish(transactionID: String) async throws
}
