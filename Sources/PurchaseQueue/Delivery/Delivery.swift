import PurchaseSQLite

/// One entry to send, claimed: no other task and no other process gets an entry of its lane until it is settled.
///
/// Its attempt is counted and durable already. Call one of `acknowledge`, `retryLater` and `quarantine` once; later
/// calls do nothing. A kill before that delivers the entry again, so the receiver has to recognize its key.
public struct Delivery: Sendable {
  /// The entry, without the bytes of its payloads.
  public let entry: Entry
  /// The payloads. One that is not in the file (`PayloadReference.isByReference`) is left out.
  public let payloads: [Payload]
  let queue: DurableQueue
  let claim: Claim
  let backoff: Backoff

  /// The receiver has the entry: removes what was sent. A payload that came meanwhile stays queued.
  public func acknowledge(outcome: String = "delivered") async throws(QueueError) {
    try await settle { (file, now) throws(QueueError) in
      _ = try file.acknowledge([Settlement(entry, outcome: outcome)], now: now)
    }
  }

  /// The send failed: the entry stays the first of its lane, and the lane waits.
  ///
  /// - Parameters:
  ///   - delay: how long; by default what the back-off says after this many attempts.
  ///   - reason: one line for the case file, without secrets.
  public func retryLater(
    after delay: Duration? = nil, reason: String = "the send failed"
  ) async throws(QueueError) {
    var random = SystemRandomNumberGenerator()
    let delay = delay ?? backoff.delay(afterFailures: entry.attempts, using: &random)
    try await settle { (file, now) throws(QueueError) in
      // The entry may be gone: this process may have discarded it meanwhile.
      guard try file.entry(entry.key)?.state == .queued else { return }
      try file.postpone(entry.key, until: now.adding(delay), reason: reason, now: now)
    }
  }

  /// The receiver will never take the entry as it is: moves it out of its lane, where it is kept and counted until it is
  /// released or discarded.
  public func quarantine(reason: String) async throws(QueueError) {
    try await settle { (file, now) throws(QueueError) in
      try file.quarantine(entry.key, reason: reason, now: now)
    }
  }

  /// After an error the delivery is not settled: the call can be repeated.
  private func settle(
    _ operation: @escaping @Sendable (QueueFile, Timestamp) throws(QueueError) -> Void
  ) async throws(QueueError) {
    guard !claim.isReleased else { return }
    try await queue.submit(operation)
    claim.release()
    queue.changes.tell()
  }
}

/// The right to send a lane, until its delivery is settled.
final class Claim: Sendable {
  private let lease: Locked<LaneLease?>

  init(_ lease: LaneLease) { self.lease = Locked(lease) }

  var isReleased: Bool { lease.withLock { $0 == nil } }

  func release() {
    lease.withLock { lease in
      lease?.release()
      lease = nil
    }
  }
}
