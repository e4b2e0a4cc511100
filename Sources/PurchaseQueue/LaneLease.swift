import PurchaseSQLite

/// The right to send one lane. While it is held, no other process and no other part of this process gets it.
///
/// An advisory lock on a file next to the queue's. It ends with its process, so a killed app never blocks a lane.
/// Release it before the app is suspended: iOS ends a suspended process that holds a lock on a file of a shared
/// container.
package final class LaneLease: Sendable {
  /// The lane.
  package let lane: Lane
  private let lock: AdvisoryLock
  private let isReleased = Locked(false)

  private init(lane: Lane, lock: consuming AdvisoryLock) {
    self.lane = lane
    self.lock = lock
  }

  deinit { release() }

  /// Releases the lane. A second call does nothing.
  package func release() {
    // The lock's file may belong to another holder by then.
    let isFirst = isReleased.withLock { isReleased in
      defer { isReleased = true }
      return !isReleased
    }
    if isFirst { lock.release() }
  }

  /// Nil if another holder has the lane.
  static func take(_ lane: Lane, path: String, on disk: Disk) throws(QueueError) -> LaneLease? {
    let name = String(UInt64(bitPattern: Checksum.of(Array(lane.rawValue.utf8))), radix: 16)
    return try QueueError.wrapFile(path) { () throws(FileError) in
      while true {
        let lock = try AdvisoryLock(path: path + "-lane-" + name, on: disk)
        guard try lock.tryLock() else { return nil }
        // An orphaned file was removed by its last holder between opening and locking. Try a new file.
        if !lock.isOrphaned { return LaneLease(lane: lane, lock: lock) }
      }
    }
  }
}

extension QueueFile {
  /// Takes the right to send a lane, until the lease is released. Nil while another holder has it: try again later.
  package func lease(_ lane: Lane) throws(QueueError) -> LaneLease? {
    try LaneLease.take(lane, path: path, on: setup.disk)
  }
}
