public import AppStoreReceipts
public import PurchaseSync

/// What the backend asks the store about.
public enum VerificationQuery: Sendable, Hashable {
  /// Is this genuine, and what does it hold?
  case proof(ProofDocument)
  /// What do you know of this transaction?
  case transaction(environment: String, id: String)
  /// What do you know of this subscription: each of its periods, by the first one's id?
  case subscription(environment: String, originalTransactionID: String)
}

/// What a store in process says to that.
public enum StoreVerification: Sendable, Hashable {
  /// Genuine; the transactions in it as they are now, refunds included.
  case genuine([SignedTransaction])
  /// The store did not make it, or somebody altered it.
  case forged
  /// Not a proof at all, or of a kind that this store does not read.
  case malformed
  /// The store does not answer now.
  case unavailable
  /// Genuine, as far as that can be said, but the store holds no such transaction.
  case notFound
}
