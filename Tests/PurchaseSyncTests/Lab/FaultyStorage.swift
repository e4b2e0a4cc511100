import MemoryModels
import PurchaseQueue
import PurchaseSyncTesting

@testable import PurchaseSync

/// A storage whose writes fail on demand: before the write, after the write, or from one write on, as in a kill.
final class FaultyStorage: ForwardingStorage {
  enum Fault: CaseIterable {
    /// Throws, and writes nothing.
    case before
    /// Throws although the write was done. This is the worst case of a full disk or a lock.
    case after
    /// This write and all later ones throw and write nothing: a kill between two commits.
    case death
  }

  let inner: MemoryStorage
  /// The write of this event that fails, counted from 0, and how it fails.
  var fault: (at: Int, how: Fault)?
  /// Whether a write has failed since the event began.
  private(set) var hasStruck = false
  private var writes = 0

  init(_ inner: MemoryStorage) { self.inner = inner }

  var base: any SyncStorage { inner }

  /// An event begins.
  func begin(_ fault: (at: Int, how: Fault)?) {
    self.fault = fault
    writes = 0
    hasStruck = false
  }

  func write<R>(_ call: () throws(QueueError) -> R) throws(QueueError) -> R {
    defer { writes += 1 }
    guard let fault else { return try call() }
    let error = QueueError.busy(path: "q", reason: "injected")
    switch fault.how {
    case .before:
      guard writes == fault.at else { return try call() }
      hasStruck = true
      throw error
    case .after:
      let result = try call()
      guard writes == fault.at else { return result }
      hasStruck = true
      throw error
    case .death:
      guard writes >= fault.at else { return try call() }
      hasStruck = true
      throw error
    }
  }
}
