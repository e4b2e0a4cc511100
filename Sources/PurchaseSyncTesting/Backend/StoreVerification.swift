package import AppStoreReceipts
package import PurchaseSync

/// A question of the backend to the store.
package enum VerificationQuery: Sendable, Hashable {
  /// Whether a proof is genuine, and its transactions.
  case proof(ProofDocument)
  /// One transaction, by its id.
  case transaction(environment: String, id: String)
  /// All periods of a subscription, by the id of the first one.
  case subscription(environment: String, originalTransactionID: String)

  /// The proof; nil for a question by id.
  package var document: ProofDocument? {
    if case .proof(let document) = self { document } else { nil }
  }
}

/// The answer of a store in process.
package enum StoreVerification: Sendable, Hashable {
  /// A genuine proof; its transactions as they are now, refunds included.
  case genuine([SignedTransaction])
  /// A proof under a certificate that was revoked, and the store's record of its transaction: the proof itself proves nothing.
  case revoked([SignedTransaction])
  /// A proof that the store did not issue, or that was altered.
  case forged
  /// Not a proof, or of a kind that this store does not read.
  case malformed
  /// The store does not answer now.
  case unavailable
  /// An answer that the store did not sign.
  case unsigned
  /// The store has no such transaction.
  case notFound

  /// The same, if the proof itself proves nothing.
  var withoutProof: StoreVerification {
    if case .genuine(let transactions) = self { .revoked(transactions) } else { self }
  }
}
