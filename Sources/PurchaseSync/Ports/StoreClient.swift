/// The calls that the engine makes to the store. An app on Apple's systems uses the adapters of this module;
/// tests use `MockStoreClient`.
///
/// Any call may fail, hang, or be repeated: the engine gives each a time limit and asks again. No call may
/// show a prompt, except `refreshReceipt` and `sync`.
public protocol StoreClient: Sendable {
  /// The transactions that the app has not finished, oldest first, with their proofs, and the store account
  /// that is signed in.
  func unfinished() async throws -> StoreListing

  /// Reads the app receipt that is on the device now, without a prompt; nil if there is none.
  func receipt() async throws -> [UInt8]?

  /// Fetches a new app receipt; nil if there is none. **May ask for a password**: the engine calls it only
  /// after the app said that the user asked for it.
  func refreshReceipt() async throws -> [UInt8]?

  /// The transactions for what the store account owns now, with their proofs, oldest first: non-consumables and running
  /// subscriptions, also those that are finished. Without a prompt. Nil if the store has no such list; then a restore
  /// reads the app receipt.
  func currentEntitlements() async throws -> [StoreTransaction]?

  /// Fetches what other devices of the store account bought. **May ask for a password**: the engine calls it only after
  /// the app said that the user asked for it.
  func sync() async throws

  /// Finishes these transactions, with one look at the store's list. A transaction that is already finished
  /// is not an error.
  ///
  /// The answer has a result for each id. An id without a result counts as failed, and comes again. Leave out an id
  /// whose call does not return in time: the engine then finishes it alone, so that it does not hold up the others.
  func finish(transactionIDs: [String]) async throws -> [String: FinishResult]
}

extension StoreClient {
  /// Finishes one transaction. Throws if the store did not answer about it.
  public func finish(transactionID: String) async throws -> FinishResult {
    guard let result = try await finish(transactionIDs: [transactionID])[transactionID] else {
      throw StoreError.unknownAnswer
    }
    return result
  }

  /// A store without an app receipt.
  public func receipt() async throws -> [UInt8]? { nil }
  /// A store without an app receipt.
  public func refreshReceipt() async throws -> [UInt8]? { nil }
  /// A store without a list of what its account owns.
  public func currentEntitlements() async throws -> [StoreTransaction]? { nil }
  /// A store that has nothing to fetch.
  public func sync() async throws {}
}

/// The unfinished transactions of the store account that is signed in.
public struct StoreListing: Sendable, Hashable {
  /// A stable name of the store account, such as `AppTransaction.appTransactionID`; nil where the store does
  /// not say. Without it, a pending finish that is not listed counts as done; the owner's redelivery
  /// finishes it.
  public var account: String?
  /// The unfinished transactions, oldest first.
  public var transactions: [StoreTransaction]
  /// False if the store gave these and then did not answer any more: they count, and nothing follows from what is missing.
  public var isComplete: Bool

  /// Creates a listing.
  public init(account: String? = nil, transactions: [StoreTransaction], isComplete: Bool = true) {
    self.account = account
    self.transactions = transactions
    self.isComplete = isComplete
  }
}

/// The result of finishing a transaction at the store.
public enum FinishResult: Sendable, Hashable {
  /// The transaction is finished, now or before.
  case finished
  /// The store does not list the transaction: it was finished long ago, or it belongs to another store
  /// account than the one that is signed in.
  case notListed
}

/// A store that can also ask for a payment: what a ``Shop`` sells through. An app on Apple's systems uses `StoreKitStore`;
/// tests use `MockStoreClient`.
public protocol SellingStore: StoreClient {
  /// Transactions that arrive while the app runs.
  associatedtype Updates: AsyncSequence & Sendable where Updates.Element == StoreTransaction

  /// Transactions that arrive while the app runs, other than by `purchase`: approved Ask to Buy, renewals, refunds. May
  /// end at once: the shop also lists what is unfinished, at each foreground.
  var updates: Updates { get }

  /// Shows the payment sheet for an order, and returns when it is closed. Pass `order.accountToken` with the payment. Does
  /// not finish the transaction.
  ///
  /// An error does not prove that nothing was charged, except a ``StoreError`` from before the payment, such as
  /// `productUnavailable` or `notAllowed`.
  func purchase(_ order: PurchaseOrder) async throws -> PurchaseResult
}
