import PurchaseSQLite

/// The right to send one lane: while somebody holds it, no other process, and no other holder in this one, gets it.
///
/// An advisory lock on a file beside the queue's. It dies with its process: a killed app never blocks a lane. Give it
/// back before the app is suspended: iOS ends a process that keeps a lock on a file of a shared container meanwhile.
public final class LaneLease: Sendable {
  /// The lane.
  public let lane: Lane
  private let lock: AdvisoryLock

  private init(lane: Lane, lock: consuming AdvisoryLock) {
    self.lane = lane
    self.lock = lock
  }

  deinit { release() }

  /// Lets the lane go; again is fine.
  public func release() { lock.release() }

  /// Nil if somebody else holds it.
  static func take(_ lane: Lane, path: String) throws(QueueError) -> LaneLease? {
    let name = String(UInt64(bitPattern: Checksum.of(Array(lane.text.utf8))), radix: 16)
    return try QueueError.wrapFile(path) { () throws(FileError) in
      while true {
        let lock = try AdvisoryLock(path: path + "-lane-" + name)
        guard try lock.tryLock() else { return nil }
        // Else its last holder removed it while we waited for it: there is a new one, or none.
        if !lock.isOrphaned { return LaneLease(lane: lane, lock: lock) }
      }
    }
  }
}

extension QueueFile {
  /// Takes the right to send a lane, until the lease is let go. Nil while somebody else has it: try again later.
  public func lease(_ lane: Lane) throws(QueueError) -> LaneLease? {
    try LaneLease.take(lane, path: path)
  }
}
