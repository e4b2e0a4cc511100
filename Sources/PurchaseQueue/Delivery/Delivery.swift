import PurchaseSQLite

/// One entry to send, claimed: no other task and no other process gets an entry of its lane until it is settled.
///
/// Its attempt is counted and durable already. Settle it with one call of `acknowledge`, `retryLater` or `quarantine`;
/// later calls do nothing. A delivery that is dropped unsettled is sent again later. A kill before it is settled delivers
/// the entry again, so the receiver has to recognize its key.
public struct Delivery: Sendable {
  /// The entry, without the bytes of its payloads.
  public let entry: Entry
  /// All of its payloads.
  public let payloads: [Payload]
  let claim: Claim

  /// The receiver has the entry: removes what was sent. A payload that came in between stays queued.
  ///
  /// After an error the delivery is not settled, and the call can be repeated.
  public func acknowledge(outcome: String = "delivered") async throws(QueueError) {
    try await claim.settle { (file, now) throws(QueueError) in
      _ = try file.acknowledge([Settlement(entry, outcome: outcome)], now: now)
    }
  }

  /// The send failed: the entry stays the first of its lane, and the lane waits. If the queue cannot store that now, the
  /// lane waits all the same.
  ///
  /// - Parameters:
  ///   - delay: how long; by default what the back-off says after this many attempts.
  ///   - reason: one line for the case file, without secrets.
  public func retryLater(after delay: Duration? = nil, reason: String = "the send failed") async {
    await claim.postpone(delay, reason)
  }

  /// The receiver will never take the entry as it is: moves it out of its lane, where it is kept and counted until it is
  /// released or discarded. If the quarantine is full, the entry is sent again later.
  ///
  /// After an error the delivery is not settled, and the call can be repeated.
  public func quarantine(reason: String) async throws(QueueError) {
    do throws(QueueError) {
      try await claim.settle { (file, now) throws(QueueError) in
        guard try file.entry(entry.key)?.state == .queued else { return }
        try file.quarantine(entry.key, reason: reason, now: now)
      }
    } catch .queueFull {
      await claim.postpone(nil, "the quarantine is full. " + reason)
    }
  }
}
