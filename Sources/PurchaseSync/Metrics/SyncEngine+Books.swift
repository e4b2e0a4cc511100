public import PurchaseQueue

/// Called when an interval of work begins, with its name. Returns a function that is called when the interval ends.
public typealias SyncIntervals = @Sendable (SyncMeasurement.Name) -> (@Sendable () -> Void)

extension SyncEngine {
  /// What came into the queue, what is there, and what left. The numbers belong to one moment, and to the file: they
  /// outlive the process, and count what other processes of this installation did.
  public func books() throws(SyncError) -> QueueBooks {
    try withFile { (file) throws(QueueError) in try file.queue.books() }
  }
}
