import PurchaseSync

/// The verdict about one claim with its changes. The claim's ids are filled in at the end.
struct Ruling {
  var verdict: ClaimVerdict
  var writes: [BackendWrite]
  /// Whether a credited transaction gets an owner who did not have it before.
  var isForNewOwner = false
  /// The verified transaction of this app that the verdict is about; nil without one.
  var transaction: VerifiedTransaction?

  init(
    _ verdict: Verdict, orderNumber: String? = nil, reason: String? = nil, retryAfter: Double? = nil,
    writes: [BackendWrite] = []
  ) {
    self.verdict = ClaimVerdict(
      environment: "", transactionID: "", verdict: verdict, orderNumber: orderNumber, reason: reason,
      retryAfter: retryAfter)
    self.writes = writes
  }

  /// The owner of the line that it writes into the ledger, or moves there; nil if it credits nothing.
  var creditedOwner: Uploader? {
    for write in writes {
      switch write {
      case .credit(let credit), .creditMoved(let credit): return credit.owner
      default: continue
      }
    }
    return nil
  }

  static func rejected(_ reason: String) -> Ruling { Ruling(.rejected, reason: reason) }
}
