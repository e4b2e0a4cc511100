/// One change of the backend's state. The changes of a request are applied to the model in memory, and made durable in
/// one transaction before the answer.
package enum BackendWrite: Sendable, Hashable {
  /// A new order, or a new state of the order with this number.
  case order(BackendOrder)
  /// An old order that was never paid is forgotten.
  case orderRemoved(String)
  /// A line at the end of the ledger.
  case credit(Credit)
  /// The line with this number has another owner, or fulfils an order now. The rest of it is as it was.
  case creditMoved(Credit)
  /// A reversal of a credit, or its end.
  case reversal(Reversal)
  /// A row of table C, new or changed.
  case purchase(Purchase)
  /// The known facts about a subscription's next renewal.
  case renewal(ChainRenewal)
  /// A row of table A. Only the file has it.
  case proof(SeenProof)
  /// A row of table B, new or changed. The file has the proof, the model its time.
  case newestProof(NewestProof)
  /// The job ran.
  case job(JobRun)
  /// An account adopted a device.
  case adoption(AdoptionRecord)
  /// A device showed its secret for the first time.
  case device(DeviceRecord)
  /// A verdict given.
  case verdict(RecordedVerdict)
}
