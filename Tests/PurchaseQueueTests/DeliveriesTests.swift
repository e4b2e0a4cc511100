import PurchaseQueue
import PurchaseSQLite
import Testing

/// The sequence of entries to send, in virtual time: a pause takes none.
@Suite struct DeliveriesTests {
  /// A device's clock that pauses advance.
  private final class Clock: Sendable {
    private let microseconds = Locked(0)

    var now: Timestamp { noon.adding(milliseconds: Int64(microseconds.value / 1_000)) }

    func goBack(milliseconds: Int) { microseconds.withLock { $0 -= milliseconds * 1_000 } }

    var patience: Patience {
      var patience = Patience()
      patience.pause = { pause in
        self.microseconds.withLock { $0 += pause }
        await Task.yield()
      }
      return patience
    }
  }

  private struct Sent: Equatable {
    var key: String
    var attempt: Int
  }

  private static let short = Backoff(base: .milliseconds(100), ceiling: .milliseconds(100))

  private func withQueue(_ body: (DurableQueue, Clock) async throws -> Void) async throws {
    try await withTemporaryDirectory { directory in
      let clock = Clock()
      let queue = try await DurableQueue.open(
        QueueSetup(path: directory + "/q"), pause: .seconds(1_000), patience: clock.patience,
        clock: { clock.now })
      try await body(queue, clock)
      try await queue.close()
    }
  }

  /// A queue whose sequences wait without end, and how often one has begun to. The short pauses are those of the queue,
  /// which it makes before it closes.
  private func withEndlessPauses(_ body: (DurableQueue, Locked<Int>) async throws -> Void) async throws {
    try await withTemporaryDirectory { directory in
      let pauses = Locked(0)
      var patience = Patience()
      patience.pause = { microseconds in
        guard microseconds >= 1_000_000 else { return await Task.yield() }
        pauses.withLock { $0 += 1 }
        while !Task.isCancelled { await Task.yield() }
      }
      let queue = try await DurableQueue.open(
        QueueSetup(path: directory + "/q"), pause: .seconds(1_000), patience: patience, clock: { noon })
      try await body(queue, pauses)
      try await queue.close()
    }
  }

  /// Sends until nothing is ready. `fails` says which send fails.
  private func drain(_ queue: DurableQueue, fails: (Sent) -> Bool = { _ in false }) async throws -> [Sent] {
    var sent: [Sent] = []
    for await delivery in queue.deliveries(backoff: Self.short, endsWhenIdle: true) {
      let attempt = Sent(key: delivery.entry.key.rawValue, attempt: delivery.entry.attempts)
      sent.append(attempt)
      if fails(attempt) {
        await delivery.retryLater()
      } else {
        try await delivery.acknowledge()
      }
    }
    return sent
  }

  @Test func `lanes take turns, and each delivers in its order`() async throws {
    try await withQueue { queue, _ in
      for name in ["a1", "a2", "b1", "a3", "c1", "c2", "b2", "d1"] {
        try await queue.enqueue(entry(name, lane: Lane(rawValue: String(name.prefix(1)))))
      }
      #expect(try await drain(queue).map(\.key) == ["a1", "b1", "c1", "d1", "a2", "b2", "c2", "a3"])
      #expect(try await queue.read { try $0.count() } == 0)
    }
  }

  @Test func `a failed entry holds its lane, and no other, until its back-off is over`() async throws {
    try await withQueue { queue, _ in
      for name in ["a1", "a2", "b1"] {
        try await queue.enqueue(entry(name, lane: Lane(rawValue: String(name.prefix(1)))))
      }
      let first = try await drain(queue) { $0.key == "a1" }
      #expect(first.first == Sent(key: "a1", attempt: 1))
      #expect(first.contains(Sent(key: "b1", attempt: 1)) && !first.contains { $0.key == "a2" })
      // Without the end when idle: the sequence waits for the back-off by itself.
      var later: [String] = []
      for await delivery in queue.deliveries(backoff: Self.short) {
        later.append(delivery.entry.key.rawValue)
        try await delivery.acknowledge()
        if later.count == 2 { break }
      }
      #expect(later == ["a1", "a2"])
    }
  }

  @Test func `an entry that is queued while the sequence waits wakes it`() async throws {
    try await withEndlessPauses { queue, pauses in
      async let first: String? = {
        for await delivery in queue.deliveries() {
          try await delivery.acknowledge()
          return delivery.entry.key.rawValue
        }
        return nil
      }()
      while pauses.value == 0 { await Task.yield() }
      try await queue.enqueue(entry("late"))
      #expect(try await first == "late")
    }
  }

  @Test func `a delivery that is dropped unsettled is sent again later`() async throws {
    try await withQueue { queue, _ in
      try await queue.enqueue(entry("a"))
      var attempts: [Int] = []
      for await delivery in queue.deliveries(backoff: Self.short) {
        attempts.append(delivery.entry.attempts)
        if attempts.count == 3 {
          try await delivery.acknowledge()
          break
        }
      }
      #expect(attempts == [1, 2, 3])
      #expect(try await queue.read { try $0.tombstone(EntryKey(rawValue: "a")) }?.attempts == 3)
    }
  }

  @Test func `a second call of a settled delivery changes nothing`() async throws {
    try await withQueue { queue, _ in
      try await queue.enqueue(entry("a"))
      for await delivery in queue.deliveries(endsWhenIdle: true) {
        try await delivery.quarantine(reason: "refused")
        try await delivery.acknowledge()
        await delivery.retryLater()
      }
      #expect(try await queue.read { try $0.quarantined() }.map(\.reason) == ["refused"])
    }
  }

  @Test func `a payload that comes during the send stays queued`() async throws {
    try await withQueue { queue, _ in
      try await queue.enqueue(entry("a", bytes: 10))
      var sizes: [Int] = []
      for await delivery in queue.deliveries(endsWhenIdle: true) {
        sizes.append(delivery.payloads.map(\.bytes.count).reduce(0, +))
        if sizes.count == 1 { try await queue.enqueue(entry("a", bytes: 20)) }
        try await delivery.acknowledge()
      }
      #expect(sizes == [10, 20])
    }
  }

  @Test func `two senders never send one lane at the same time, and send each entry once`() async throws {
    try await withQueue { queue, _ in
      for index in 0..<40 { try await queue.enqueue(entry("k\(index)", lane: "lane \(index % 3)")) }
      let busy = Locked<Set<Lane>>([])
      let sent = Locked<[String]>([])
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<4 {
          group.addTask {
            for await delivery in queue.deliveries() {
              #expect(busy.withLock { $0.insert(delivery.entry.lane).inserted })
              await Task.yield()
              sent.withLock { $0.append(delivery.entry.key.rawValue) }
              busy.withLock { _ = $0.remove(delivery.entry.lane) }
              try await delivery.acknowledge()
              do {
                if try await queue.read({ try $0.count() }) == 0 { try await queue.close() }
              } catch QueueError.closed {
                // Another sender was first.
              }
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(sent.value.count == 40 && Set(sent.value).count == 40)
    }
  }

  @Test func `only the lanes that were asked for are sent`() async throws {
    try await withQueue { queue, _ in
      for name in ["a", "b"] { try await queue.enqueue(entry(name, lane: Lane(rawValue: name))) }
      var sent: [String] = []
      for await delivery in queue.deliveries(from: ["b"], endsWhenIdle: true) {
        sent.append(delivery.entry.key.rawValue)
        try await delivery.acknowledge()
      }
      #expect(sent == ["b"])
    }
  }

  @Test func `a clock that goes back makes no entry wait for the old time`() async throws {
    try await withQueue { queue, clock in
      try await queue.enqueue(entry("a"))
      for await delivery in queue.deliveries(endsWhenIdle: true) {
        await delivery.retryLater(after: .seconds(3_600))
      }
      #expect(try await drain(queue).isEmpty)
      clock.goBack(milliseconds: 86_400_000)
      #expect(try await drain(queue) == [Sent(key: "a", attempt: 2)])
    }
  }

  @Test func `closing the queue ends the sequence`() async throws {
    try await withEndlessPauses { queue, pauses in
      async let count: Int = {
        var count = 0
        for await _ in queue.deliveries() { count += 1 }
        return count
      }()
      while pauses.value == 0 { await Task.yield() }
      try await queue.close()
      #expect(await count == 0)
    }
  }

  @Test func `cancelling its task ends the sequence and keeps the entry`() async throws {
    try await withQueue { queue, _ in
      try await queue.enqueue(entry("a"))
      let task = Task {
        for await _ in queue.deliveries(backoff: Backoff(base: .seconds(3_000_000))) {
          unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
        }
      }
      await task.value
      #expect(try await queue.read { try $0.entry(EntryKey(rawValue: "a")) }?.attempts == 1)
    }
  }

  @Test func `a sequence that waits does not look again and again`() async throws {
    try await withEndlessPauses { queue, pauses in
      let sender = Task {
        for await delivery in queue.deliveries() { try await delivery.acknowledge() }
      }
      try await queue.enqueue(entry("a"))
      while try await queue.read({ try $0.count() }) > 0 { await Task.yield() }
      for _ in 0..<500 { _ = try await queue.read { try $0.count() } }
      // One for each commit: the enqueue, the attempt, the acknowledgement, and the release of the lane.
      #expect(pauses.value <= 5)
      sender.cancel()
      try await sender.value
    }
  }

  @Test func `deliveries that are settled by tasks of their own are each sent once`() async throws {
    try await withQueue { queue, _ in
      for index in 0..<12 { try await queue.enqueue(entry("k\(index)", lane: "lane \(index % 4)")) }
      let sent = Locked<[String]>([])
      try await withThrowingTaskGroup(of: Void.self) { group in
        var begun = 0
        for await delivery in queue.deliveries() {
          group.addTask {
            for _ in 0..<20 { await Task.yield() }
            sent.withLock { $0.append(delivery.entry.key.rawValue) }
            try await delivery.acknowledge()
          }
          begun += 1
          if begun == 12 { break }
        }
        try await group.waitForAll()
      }
      #expect(Set(sent.value).count == 12 && sent.value.count == 12)
      #expect(try await queue.read { try $0.count() } == 0)
    }
  }

  @Test func `an entry whose payload is lost goes to quarantine instead of being sent empty`() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/q"
      try Self.damage(path)
      let queue = try await DurableQueue.open(path: path)
      for await _ in queue.deliveries(endsWhenIdle: true) { Issue.record("sent without its payload") }
      #expect(try await queue.read { try $0.quarantined() }.count == 1)
      try await queue.close()
    }
  }

  /// A queue with one entry, of whose payload one byte is changed.
  private static func damage(_ path: String) throws {
    try QueueFile(path: path, now: noon).write { try $0.enqueue(entry("a")) }
    let connection = try Connection(path: path)
    try connection.execute("UPDATE payloads SET bytes=x'00'")
  }

  @Test func `a payload that is too long is refused, because it has no other source`() async throws {
    try await withTemporaryDirectory { directory in
      let queue = try QueueFile(path: directory + "/q", limits: QueueLimits(payloadBytes: 10))
      let new = NewEntry(
        key: EntryKey(rawValue: "a"), lane: "l",
        payloads: [Payload(kind: "p", bytes: [UInt8](repeating: 1, count: 11))])
      #expect(throws: QueueError.self) { try queue.write { try $0.enqueue(new) } }
      #expect(try queue.count() == 0)
    }
  }

  @Test func `a newer payload that is too long takes the place of a shorter one by reference`() async throws {
    try await withTemporaryDirectory { directory in
      let queue = try QueueFile(path: directory + "/q", limits: QueueLimits(payloadBytes: 10), now: noon)
      func enqueue(_ count: Int) throws {
        _ = try queue.enqueue(
          NewEntry(
            key: EntryKey(rawValue: "a"), lane: "l", orderNumber: nil,
            payloads: [Payload(kind: "p", bytes: [UInt8](repeating: 1, count: count))]), now: noon)
      }
      try enqueue(10)
      try enqueue(11)
      let entry = try #require(try queue.head(of: "l"))
      // The older bytes would go up, and the backend would not find what was bought since.
      #expect(entry.payloads.map(\.isByReference) == [true])
      #expect(entry.payloads.map(\.size) == [11])
      #expect(try queue.health().bytes == 0)
    }
  }

  @Test func `a postponement by a clock that was wrong does not last`() async throws {
    try await withQueue { queue, clock in
      try await queue.enqueue(entry("a"))
      for await delivery in queue.deliveries(endsWhenIdle: true) {
        clock.goBack(milliseconds: -365 * 86_400_000)
        await delivery.retryLater(after: .seconds(1))
      }
      clock.goBack(milliseconds: 365 * 86_400_000)
      #expect(try await drain(queue).map(\.key) == ["a"])
    }
  }

  @Test(arguments: [Duration.seconds(Int64.max), .seconds(-1), .zero])
  func `no duration traps`(duration: Duration) async throws {
    try await withQueue { queue, _ in
      try await queue.enqueue(entry("a"))
      let backoff = Backoff(base: duration, ceiling: duration)
      var sent = 0
      for await delivery in queue.deliveries(backoff: backoff, lookingEvery: duration) {
        sent += 1
        if sent == 1 {
          await delivery.retryLater(after: duration > .zero ? .zero : duration)
        } else {
          try await delivery.acknowledge()
          break
        }
      }
      #expect(sent == 2)
    }
  }
}
