/// What the engine needs of the store. An app on Apple's systems uses the adapters of this module; tests use
/// `MockStoreClient`.
///
/// Any call may fail, hang, or be repeated: the engine gives each a time limit and asks again. Nothing here may ever
/// show a prompt, except `refreshReceipt`.
public protocol AppStore: Sendable {
  /// The transactions that the app has not finished, oldest first, with their proofs; and who is signed in.
  func unfinished() async throws -> StoreListing

  /// The app receipt as it lies on the device now, read silently; nil if there is none.
  func receipt() async throws -> [UInt8]?

  /// Fetches a new app receipt; nil if there is none. **May ask for a password**: called only after the app said that
  /// the user asked for it.
  func refreshReceipt() async throws -> [UInt8]?

  /// Tells the store that a transaction is done. One that is finished already is fine.
  func finish(transactionID: String) async throws -> FinishResult
}

extension AppStore {
  /// A store without an app receipt.
  public func receipt() async throws -> [UInt8]? { nil }
  /// A store without an app receipt.
  public func refreshReceipt() async throws -> [UInt8]? { nil }
}

/// What the store holds for whoever is signed in to it.
public struct StoreListing: Sendable, Hashable {
  /// A name of the store account that stays the same for it, such as `AppTransaction.appTransactionID`; nil where the
  /// store doesn't tell. Without it, *finish owed* of another store account is asked for again at each listing.
  public var account: String?
  /// Not finished, oldest first.
  public var transactions: [StoreTransaction]

  /// A listing.
  public init(account: String? = nil, transactions: [StoreTransaction]) {
    self.account = account
    self.transactions = transactions
  }
}

/// What came of telling the store that a transaction is done.
public enum FinishResult: Sendable, Hashable {
  /// It is finished now, or was before.
  case finished
  /// The store doesn't list it: finished long ago, or of another store account than the one signed in.
  case notListed
}
