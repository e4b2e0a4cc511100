/// The entries of a queue, each when it can be sent, for as long as the app runs (`DurableQueue.deliveries`).
///
/// Entries of a lane come in their order: while the first one waits, its lane waits. The lanes take turns. The sequence
/// waits for entries that are queued later. It ends when its task is cancelled or the queue is closed, and throws
/// `QueueError`; entries and their order are kept then, and a new sequence goes on. Several tasks and processes can
/// send from one queue at the same time: each lane is sent by one.
///
/// A delivery that is not settled when the next one is asked for counts as failed.
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
    private var last: Delivery?
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
    public mutating func next() async throws -> Delivery? {
      do throws(QueueError) {
        try await last?.retryLater(reason: "the send was not finished")
        last = nil
        while !Task.isCancelled {
          switch try await deliveries.queue.claimNext(deliveries, after: lastLane) {
          case .delivery(let delivery):
            last = delivery
            lastLane = delivery.entry.lane
            return delivery
          case .nothing where deliveries.endsWhenIdle: return nil
          case .nothing(let milliseconds), .busy(let milliseconds):
            guard await wait(milliseconds) else { return nil }
          }
        }
        return nil
      } catch .closed {
        return nil
      }
    }

    /// Waits for a change or for the time to pass. False when the sequence is over.
    private func wait(_ milliseconds: Int64) async -> Bool {
      let (pause, wake) = (deliveries.queue.patience.pause, wake)
      let timer = Task {
        await pause(Int(clamping: milliseconds.multipliedReportingOverflow(by: 1_000).partialValue))
        wake.yield()
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
  /// for try await delivery in queue.deliveries() {
  ///   do {
  ///     try await send(delivery.payloads, key: delivery.entry.key)
  ///     try await delivery.acknowledge()
  ///   } catch {
  ///     try await delivery.retryLater()
  ///   }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - lanes: the lanes to send; by default all.
  ///   - backoff: how long a lane waits after a failure.
  ///   - interval: how long after nothing was ready the sequence looks again for entries of other processes. Entries of
  ///     this process are seen at once.
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
    /// Another process writes. Try again after so many milliseconds.
    case busy(Int64)
  }

  /// Claims the first lane whose first entry can be sent.
  func claimNext(_ deliveries: Deliveries, after lastLane: Lane?) async throws(QueueError) -> NextDelivery {
    let interval = max(deliveries.interval.wholeMilliseconds, 1)
    do throws(QueueError) {
      let (ready, wait) = try await serve { (file, now) throws(QueueError) in
        try Self.readyLanes(of: file, among: deliveries.lanes, after: lastLane, now: now)
      }
      for lane in ready {
        let lease = try await serve { (file, _) throws(QueueError) in try file.lease(lane) }
        guard let lease else { continue }
        // Another sender may have settled the entry before the lane was claimed.
        let claimed = try await submit { (file, now) throws(QueueError) in
          try Self.begin(lane, in: file, now: now)
        }
        guard let (entry, payloads) = claimed else { continue }
        return .delivery(
          Delivery(
            entry: entry, payloads: payloads, queue: self, claim: Claim(lease), backoff: deliveries.backoff))
      }
      return .nothing(min(interval, wait ?? interval))
    } catch .busy {
      return .busy(min(interval, 1_000))
    }
  }

  /// The lanes whose first entry can be sent, the one of the last delivery at the end; and how many milliseconds to wait
  /// for the first of the others.
  private static func readyLanes(
    of file: QueueFile, among wanted: [Lane]?, after lastLane: Lane?, now: Timestamp
  ) throws(QueueError) -> (ready: [Lane], wait: Int64?) {
    var ready: [Lane] = []
    var wait: Int64?
    for lane in try file.lanes() where wanted?.contains(lane) ?? true {
      guard let head = try file.head(of: lane) else { continue }
      let left = head.wait(at: now)
      if left > 0 { wait = min(wait ?? left, left) } else { ready.append(lane) }
    }
    if let index = ready.firstIndex(where: { $0 == lastLane }) { ready.append(ready.remove(at: index)) }
    return (ready, wait)
  }

  /// Counts an attempt of the lane's first entry. Nil if it cannot be sent now.
  private static func begin(
    _ lane: Lane, in file: QueueFile, now: Timestamp
  ) throws(QueueError) -> (Entry, [Payload])? {
    guard let (entry, _) = try file.peek(lane), entry.wait(at: now) <= 0 else { return nil }
    try file.recordAttempt([entry.key], now: now)
    return try file.peek(lane)
  }
}

extension Entry {
  /// How many milliseconds the entry is still not to be sent. None after the clock went back to before its last attempt.
  fileprivate func wait(at now: Timestamp) -> Int64 {
    if let attemptedAt, attemptedAt > now { return 0 }
    let (left, overflow) = readyAt.milliseconds.subtractingReportingOverflow(now.milliseconds)
    return overflow ? (readyAt > now ? .max : 0) : left
  }
}
