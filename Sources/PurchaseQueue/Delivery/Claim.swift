import PurchaseSQLite

/// The right to send a lane, from the claim of its first entry until the delivery is settled or dropped.
final class Claim: Sendable {
  private let queue: DurableQueue
  private let entry: Entry
  private let backoff: Backoff
  /// Nil when the delivery is settled.
  private let lease: Locked<LaneLease?>

  init(_ lease: LaneLease, _ entry: Entry, _ queue: DurableQueue, _ backoff: Backoff) {
    self.lease = Locked(lease)
    self.entry = entry
    self.queue = queue
    self.backoff = backoff
  }

  deinit {
    guard let lease = lease.value else { return }
    // Dropped unsettled. A new claim ends the delivery: `self` is gone when the task runs.
    let claim = Claim(lease, entry, queue, backoff)
    self.lease.withLock { $0 = nil }
    Task { await claim.postpone(nil, "the delivery was not finished") }
  }

  /// Commits the operation and releases the lane; nothing if the delivery is settled already.
  func settle(
    _ operation: @escaping @Sendable (QueueFile, Timestamp) throws(QueueError) -> Void
  ) async throws(QueueError) {
    guard lease.value != nil else { return }
    try await queue.submit(operation)
    release()
  }

  /// Postpones the entry and releases the lane. If that cannot be stored, keeps the lane for as long.
  func postpone(_ asked: Duration?, _ reason: String) async {
    var random = SystemRandomNumberGenerator()
    let delay = asked ?? backoff.delay(afterFailures: entry.attempts, using: &random)
    do throws(QueueError) {
      try await settle { [entry] (file, now) throws(QueueError) in
        // Another caller may have discarded it since.
        guard try file.entry(entry.key)?.state == .queued else { return }
        try file.postpone(entry.key, until: now.adding(delay), reason: reason, now: now)
      }
    } catch .closed {
      release()
    } catch {
      queue.reportDelivery(error)
      Task {
        await queue.pause(milliseconds: delay.wholeMilliseconds)
        self.release()
      }
    }
  }

  private func release() {
    lease.withLock { lease in
      lease?.release()
      lease = nil
    }
    queue.changes.notify()
  }
}
