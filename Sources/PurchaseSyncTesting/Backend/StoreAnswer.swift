public import AppStoreReceipts

/// What came of asking the store, as a value: the model of the backend judges by it, and does not care who asked how.
public struct StoreAnswer: Sendable, Hashable {
  /// What it means for the one who asked.
  public enum Outcome: Sendable, Hashable {
    /// Genuine. What was paid for may be over all the same: 0, and 21006 too (R1.1).
    case genuine(StoreReport)
    /// Not the store's work: 21003, or a signature that is none.
    case forged
    /// Nothing that could be asked about, or of a kind that this backend cannot have verified.
    case malformed
    /// 21002: malformed, or a moment of weakness. Worth a few more tries.
    case doubtful
    /// No answer, or none that says anything: 21005, 21009, 211xx that can be retried, unknown statuses, no JSON, an
    /// environment that points back.
    case unavailable
    /// 21000 and 21004: the backend's own fault, never the customer's. Nothing is known of the proof.
    case misconfigured
    /// The store will not answer for this proof: 21010, and 211xx that cannot be retried.
    case refused
    /// Genuine, as far as that can be said, but the store holds no such transaction.
    case notFound
  }

  /// What came of it.
  public var outcome: Outcome
  /// The store's own number, where it gave one.
  public var status: ReceiptStatus?

  /// An answer.
  public init(_ outcome: Outcome, status: ReceiptStatus? = nil) {
    self.outcome = outcome
    self.status = status
  }

  /// What a store that is asked in process says, at `now`, milliseconds since 1970.
  public init(_ verification: StoreVerification, at now: Int64) {
    switch verification {
    case .genuine(let transactions):
      self.init(.genuine(StoreReport(transactions.map { VerifiedTransaction($0, askedAt: now) })))
    case .forged: self.init(.forged)
    case .malformed: self.init(.malformed)
    case .unavailable: self.init(.unavailable)
    case .notFound: self.init(.notFound)
    }
  }

  /// What the store vouches for; nil if it vouches for nothing.
  public var report: StoreReport? {
    guard case .genuine(let report) = outcome else { return nil }
    return report
  }
}

/// What the store vouches for in one answer. Holds a proof: descriptions do not show it.
public struct StoreReport: Sendable, Hashable {
  /// The transactions, each once.
  public var transactions: [VerifiedTransaction]
  /// What it says of the next renewals.
  public var renewals: [ChainRenewal]
  /// `latest_receipt`, base64: stands in for the proof that was sent (R2.5).
  public var latestReceipt: String?

  /// A report with all of its parts.
  public init(
    _ transactions: [VerifiedTransaction], renewals: [ChainRenewal] = [], latestReceipt: String? = nil
  ) {
    self.transactions = transactions
    self.renewals = renewals
    self.latestReceipt = latestReceipt
  }

  /// What a genuine answer of `verifyReceipt` holds, in either style. `host` is the environment of the host that gave
  /// it, and `askedAt` when: the old style says neither.
  public init(_ response: VerifyReceiptResponse, host: StoreEnvironment, askedAt: Int64) {
    let environment = response.environment ?? host
    var toldAt = askedAt
    if case .app(let receipt) = response.receipt { toldAt = receipt.requestDate ?? askedAt }
    var positions: [String: Int] = [:]
    transactions = []
    // One may stand in it several times; `latest_receipt_info` comes last and is right where they differ (a.5).
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
  /// Counts; no receipt.
  public var description: String { "\(transactions.count) transactions, \(renewals.count) renewals" }
  /// Without children.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
