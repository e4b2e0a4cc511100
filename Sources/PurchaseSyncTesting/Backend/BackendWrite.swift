/// One change of the backend's state. Everything a request changes is a list of these: applied to the model in
/// memory, and made durable in one transaction before the answer.
public enum BackendWrite: Sendable, Hashable {
  /// A new order, or a new state of the order with this number.
  case order(BackendOrder)
  /// A line at the end of the ledger.
  case credit(Credit)
  /// A credit taken back.
  case reversal(Reversal)
  /// A transaction seen without a claim.
  case sighting(Sighting)
  /// A device's grants moved.
  case deviceClaim(DeviceClaim)
  /// A verdict given.
  case verdict(RecordedVerdict)
}
