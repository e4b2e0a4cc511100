import PurchaseQueue
import PurchaseSync

/// The storage of a dead process: every call throws. Its connection is closed before anything else uses the files.
final class GoneStorage: ForwardingStorage {
  /// Never called.
  var base: any SyncStorage { self }

  func read<R>(_ call: () throws(QueueError) -> R) throws(QueueError) -> R { throw .closed(path: "q") }
  func write<R>(_ call: () throws(QueueError) -> R) throws(QueueError) -> R { throw .closed(path: "q") }
}
