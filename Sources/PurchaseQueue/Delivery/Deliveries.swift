/// The entries of a queue, each when it can be sent, for as long as the app runs (`DurableQueue.deliveries`).
///
/// Entries of a lane come in their order: while the first one waits, its lane waits. The lanes take turns. The sequence
/// waits for entries that are queued later. It ends when its task is cancelled or the queue is closed, and throws
/// nothing: while the file cannot be used, it waits and tries again (`Diagnostic.Operation.delivery`). Several tasks and
/// processes can send from one queue at the same time: each lane is sent by one. An entry whose payload is lost to damage
/// goes to quarantine.
public struct Deliveries: AsyncSequence, Sendable {
  /// One claimed entry.
  public typealias Element = Delivery

  let queue: DurableQueue
  let lanes: [Lane]?
  let backoff: Backoff
  let interval: Duration
  let endsWhenIdle: Bool

  /// Begins to send.
  public func makeAsyncIterator() -> AsyncIterator {
    let (stream, wake) = queue.changes.watch()
    return AsyncIterator(deliveries: self, changes: stream, wake: wake)
  }

  /// Asks the queue for one entry after the other. For one task.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let deliveries: Deliveries
    let changes: AsyncStream<Void>
    let wake: AsyncStream<Void>.Continuation
    /// The lane of the last delivery: the others go first.
    private var lastLane: Lane?

    init(
      deliveries: Deliveries, changes: AsyncStream<Void>, wake: AsyncStream<Void>.Continuation
    ) {
      self.deliveries = deliveries
      self.changes = changes
      self.wake = wake
    }

    /// Waits for the next entry that can be sent, counts its attempt, and claims its lane. Nil when the task is
    /// cancelled or the queue is closed.
    public mutating func next() async -> Delivery? {
      while !Task.isCancelled {
        switch await deliveries.queue.claimNext(deliveries, after: lastLane) {
        case .delivery(let delivery):
          lastLane = delivery.entry.lane
          return delivery
        case .nothing where deliveries.endsWhenIdle: return nil
        case .nothing(let milliseconds), .failed(let milliseconds):
          guard await wait(milliseconds) else { return nil }
        case .closed: return nil
        }
      }
      return nil
    }

    /// Waits for a change or for the time to pass. False when the sequence is over.
    private func wait(_ milliseconds: Int64) async -> Bool {
      let (queue, wake) = (deliveries.queue, wake)
      let timer = Task {
        await queue.pause(milliseconds: milliseconds)
        // A pause that was ended early must not end the next one.
        if !Task.isCancelled { wake.yield() }
      }
      defer { timer.cancel() }
      var iterator = changes.makeAsyncIterator()
      return await iterator.next() != nil
    }
  }
}

extension DurableQueue {
  /// The entries to send, one after the other. Twenty lines make a reliable outbox:
  ///
  /// ```swift
  /// for await delivery in queue.deliveries() {
  ///   do {
  ///     try await send(delivery.payloads, key: delivery.entry.key)
  ///     try await delivery.acknowledge()
  ///   } catch {
  ///     await delivery.retryLater()
  ///   }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - lanes: the lanes to send; by default all.
  ///   - backoff: how long a lane waits after a failure.
  ///   - interval: how long after nothing was ready the sequence looks again for entries of other processes, and of other
  ///     queues on the same file. Entries of this `DurableQueue` are seen at once.
  ///   - endsWhenIdle: true to end the sequence when no entry can be sent now, for a background task.
  public nonisolated func deliveries(
    from lanes: [Lane]? = nil, backoff: Backoff = Backoff(), lookingEvery interval: Duration = .seconds(30),
    endsWhenIdle: Bool = false
  ) -> Deliveries {
    Deliveries(queue: self, lanes: lanes, backoff: backoff, interval: interval, endsWhenIdle: endsWhenIdle)
  }

  enum NextDelivery: Sendable {
    case delivery(Delivery)
    /// No entry can be sent. Look again after so many milliseconds.
    case nothing(Int64)
    /// The file cannot be used now. Try again after so many milliseconds.
    case failed(Int64)
    case closed
  }

  /// Claims a lane whose first entry can be sent: the first one behind the lane of the last delivery.
  func claimNext(_ deliveries: Deliveries, after lastLane: Lane?) async -> NextDelivery {
    let interval = max(deliveries.interval.wholeMilliseconds, 1)
    do throws(QueueError) {
      while !Task.isCancelled {
        let found = try await serve { (file, now) throws(QueueError) in
          try Self.leaseReadyLane(of: file, among: deliveries.lanes, after: lastLane, now: now)
        }
        guard let lease = found.lease else { return .nothing(min(interval, found.wait ?? interval)) }
        // Another sender may have settled the entry before the lane was claimed.
        let claimed = try await submit { (file, now) throws(QueueError) in
          try Self.begin(lease.lane, in: file, now: now)
        }
        guard let (entry, payloads) = claimed else { continue }
        let claim = Claim(lease, entry, self, deliveries.backoff)
        return .delivery(Delivery(entry: entry, payloads: payloads, claim: claim))
      }
      return .nothing(interval)
    } catch .closed {
      return .closed
    } catch .busy {
      return .failed(min(interval, 1_000))
    } catch {
      reportDelivery(error)
      return .failed(min(interval, 10_000))
    }
  }

  nonisolated func reportDelivery(_ error: QueueError) {
    setup.diagnostics?(Diagnostic(.delivery, setup.path, error))
  }

  /// Waits without holding a thread, for a day at most.
  nonisolated func pause(milliseconds: Int64) async {
    await patience.pause(Int(min(max(milliseconds, 0), 86_400_000)) * 1_000)
  }

  /// Leases the first lane behind the one of the last delivery whose first entry can be sent. Without one: how many
  /// milliseconds to wait for the first of the others.
  private static func leaseReadyLane(
    of file: QueueFile, among wanted: [Lane]?, after lastLane: Lane?, now: Timestamp
  ) throws(QueueError) -> (lease: LaneLease?, wait: Int64?) {
    func isBefore(_ one: Lane, _ other: Lane) -> Bool {
      one.rawValue.utf8.lexicographicallyPrecedes(other.rawValue.utf8)
    }
    let lanes = try file.lanes().filter { wanted?.contains($0) ?? true }.sorted(by: isBefore)
    let next = lastLane.flatMap { last in lanes.firstIndex { isBefore(last, $0) } } ?? 0
    var wait: Int64?
    for lane in lanes[next...] + lanes[..<next] {
      guard let head = try file.head(of: lane) else { continue }
      let left = head.wait(at: now)
      if left > 0 {
        wait = min(wait ?? left, left)
      } else if let lease = try file.lease(lane) {
        return (lease, nil)
      }
    }
    return (nil, wait)
  }

  /// Counts an attempt of the lane's first entry. Nil if it cannot be sent now.
  private static func begin(
    _ lane: Lane, in file: QueueFile, now: Timestamp
  ) throws(QueueError) -> (Entry, [Payload])? {
    guard let (entry, payloads) = try file.peek(lane), entry.wait(at: now) <= 0 else { return nil }
    guard payloads.count == entry.payloads.count else {
      let reason = "a payload was lost to damage. Enqueue the entry again, then release it"
      do throws(QueueError) {
        try file.quarantine(entry.key, reason: reason, now: now)
      } catch .queueFull {
        try file.postpone(entry.key, until: now.adding(milliseconds: 3_600_000), reason: reason, now: now)
      }
      return nil
    }
    try file.recordAttempt([entry.key], now: now)
    guard let counted = try file.entry(entry.key) else { return nil }
    return (counted, payloads)
  }
}

extension Entry {
  /// How many milliseconds the entry is still not to be sent. None if its last event lies ahead: then the clock has gone
  /// back since, and the moment until which it was postponed is a wrong one.
  fileprivate func wait(at now: Timestamp) -> Int64 {
    guard readyAt > now else { return 0 }
    if let attemptedAt, attemptedAt > now { return 0 }
    if let last = history.events.last, last.at > now { return 0 }
    let (left, overflow) = readyAt.milliseconds.subtractingReportingOverflow(now.milliseconds)
    return overflow ? .max : left
  }
}
