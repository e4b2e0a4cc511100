package import AppStoreDocuments
package import AppStoreReceipts

/// The store's answers, by question. The backend has them before it takes the mock's lock.
package typealias StoreAnswers = [VerificationQuery: StoreAnswer]

/// The result of a question to the store. The backend's model judges by it, independent of the verifier.
package struct StoreAnswer: Sendable, Hashable {
  /// The meaning for the backend.
  package enum Outcome: Sendable, Hashable {
    /// Genuine, but possibly lapsed: 0 and 21006 (R1.1).
    case genuine(StoreReport)
    /// Not issued by the store: 21003, or an invalid signature.
    case forged
    /// Not a proof, or of a kind that this backend cannot have verified.
    case malformed
    /// 21002: malformed, or a temporary fault of the store. Worth a few retries.
    case doubtful
    /// No usable answer: 21005, 21009, retryable 211xx, unknown statuses, no JSON, an environment that points back.
    case unavailable
    /// An answer about an id that the store did not sign: another server gave it, so nothing is known.
    case unsigned
    /// 21000 and 21004: a fault of the backend, never of the customer. Nothing is known of the proof.
    case misconfigured
    /// The store refuses this proof: 21010 and non-retryable 211xx.
    case refused
    /// Possibly genuine, but the store has no such transaction.
    case notFound
  }

  package var outcome: Outcome
  /// The store's status; nil without one.
  package var status: ReceiptStatus?
  /// Whether the proof counts. False under a certificate that was revoked: then only the store's record does.
  package var isProof = true

  package init(_ outcome: Outcome, status: ReceiptStatus? = nil) {
    self.outcome = outcome
    self.status = status
  }

  /// The answer of a store in process at `now`, milliseconds since 1970.
  package init(_ verification: StoreVerification, at now: Int64) {
    switch verification {
    case .genuine(let transactions):
      self.init(.genuine(StoreReport(transactions.map { VerifiedTransaction($0, askedAt: now) })))
    case .revoked(let transactions):
      self.init(.genuine(transactions), at: now)
      isProof = false
    case .forged: self.init(.forged)
    case .malformed: self.init(.malformed)
    case .unavailable: self.init(.unavailable)
    case .unsigned: self.init(.unsigned)
    case .notFound: self.init(.notFound)
    }
  }

  /// The number of the store's status; nil without one.
  package var statusNumber: Int64? { status.map { Int64($0.rawValue) } }

  /// The confirmed facts; nil without any.
  package var report: StoreReport? {
    guard case .genuine(let report) = outcome else { return nil }
    return report
  }
}

/// The facts that the store confirms in one answer. It holds a proof, which descriptions do not show.
package struct StoreReport: Sendable, Hashable {
  /// The transactions, each once.
  package var transactions: [VerifiedTransaction]
  /// The statements about the next renewals.
  package var renewals: [ChainRenewal]
  /// `latest_receipt`, base64: replaces the sent proof (R2.5).
  package var latestReceipt: String?

  package init(
    _ transactions: [VerifiedTransaction], renewals: [ChainRenewal] = [], latestReceipt: String? = nil
  ) {
    self.transactions = transactions
    self.renewals = renewals
    self.latestReceipt = latestReceipt
  }

  /// The facts in a genuine answer of `verifyReceipt`, in either style. `host` is the environment of the host and
  /// `askedAt` the time of the answer: the old style has neither.
  package init(_ response: VerifyReceiptResponse, host: StoreEnvironment, askedAt: Int64) {
    let environment = response.environment ?? host
    var toldAt = askedAt
    if case .app(let receipt) = response.receipt { toldAt = receipt.requestDate ?? askedAt }
    var positions: [String: Int] = [:]
    transactions = []
    // A transaction may occur several times; `latest_receipt_info` comes last and counts (a.5).
    for item in response.transactions {
      let told = VerifiedTransaction(
        item, environment: environment, bundleID: response.bundleID, toldAt: toldAt)
      if let position = positions[told.transactionID] {
        transactions[position] = transactions[position].merged(with: told)
      } else {
        positions[told.transactionID] = transactions.count
        transactions.append(told)
      }
    }
    renewals = SubscriptionFacts(response).renewals.sorted { $0.key < $1.key }.map { original, renewal in
      ChainRenewal(
        chain: ChainKey(environment: environment, originalTransactionID: original), renewal: renewal,
        toldAt: renewal.asOf ?? toldAt)
    }
    latestReceipt = response.latestReceipt
  }
}

extension StoreReport: CustomStringConvertible, CustomReflectable {
  package var description: String { "\(transactions.count) transactions, \(renewals.count) renewals" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
