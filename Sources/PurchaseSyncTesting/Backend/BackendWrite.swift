/// One change of the backend's state. Everything a request changes is a list of these: applied to the model in
/// memory, and made durable in one transaction before the answer.
public enum BackendWrite: Sendable, Hashable {
  /// A new order, or a new state of the order with this number.
  case order(BackendOrder)
  /// A line at the end of the ledger.
  case credit(Credit)
  /// A credit taken back, or given back.
  case reversal(Reversal)
  /// A row of table C, new or changed.
  case purchase(Purchase)
  /// What is known of a subscription's next renewal.
  case renewal(ChainRenewal)
  /// A row of table A. The file has it, the model does not.
  case proof(SeenProof)
  /// A row of table B, new or changed. The proof is in the file, the model knows how new it is.
  case newestProof(NewestProof)
  /// The job ran.
  case job(JobRun)
  /// A device's grants moved.
  case deviceClaim(DeviceClaim)
  /// A verdict given.
  case verdict(RecordedVerdict)
}
