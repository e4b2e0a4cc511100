import PurchaseSQLite
import Testing

@testable import PurchaseQueue

/// How long the sequence of deliveries waits, to the millisecond, and what keeps a lane in the meantime. A pause takes
/// no time.
@Suite struct DeliveryPaceTests {
  /// Notes each pause, and advances the clock by it.
  private final class Pauses: Sendable {
    private let microseconds = Locked(0)
    private let noted = Locked<[Int]>([])
    private let reaction = Locked<(@Sendable (Int) throws -> Void)?>(nil)

    var now: Timestamp { noon.adding(milliseconds: Int64(microseconds.value / 1_000)) }
    var all: [Int] { noted.value }

    /// Calls `body` at the beginning of each pause.
    func react(_ body: @escaping @Sendable (Int) throws -> Void) { reaction.withLock { $0 = body } }

    /// The pauses of so many microseconds or more: the others are those of a call that waits for the file.
    func long(_ least: Int) -> Set<Int> { Set(all.filter { $0 >= least }) }

    /// Calls `body` at the beginning of the first pause of so many microseconds or more.
    func react(toLong least: Int, _ body: @escaping @Sendable () throws -> Void) {
      let isDone = Locked(false)
      react { pause in
        guard pause >= least else { return }
        let isFirst = isDone.withLock { isDone in
          defer { isDone = true }
          return !isDone
        }
        guard isFirst else { return }
        try body()
      }
    }

    var patience: Patience {
      var patience = Patience()
      patience.now = { Int64(self.microseconds.value / 1_000) }
      patience.pause = { pause in
        self.noted.withLock { $0.append(pause) }
        do {
          try self.reaction.value?(pause)
        } catch {
          Issue.record(error)
        }
        self.microseconds.withLock { $0 += min(pause, 1 << 40) }
        await Task.yield()
      }
      return patience
    }
  }

  /// Another program with the same file.
  private final class Program: Sendable {
    private let file: Locked<QueueFile>

    init(_ path: String) throws { file = Locked(try QueueFile(path: path, now: noon)) }

    func execute(_ statement: String) throws { try file.withLock { try $0.connection.execute(statement) } }

    /// Whether the lane is free.
    func canTake(_ lane: Lane) throws -> Bool {
      try file.withLock { file in
        let lease = try file.lease(lane)
        lease?.release()
        return lease != nil
      }
    }
  }

  private func withQueue(
    _ limits: QueueLimits = QueueLimits(),
    _ body: (DurableQueue, Program, Pauses, Locked<[Diagnostic]>) async throws -> Void
  ) async throws {
    try await withTemporaryDirectory { directory in
      let (pauses, diagnostics) = (Pauses(), Locked<[Diagnostic]>([]))
      let setup = QueueSetup(
        path: directory + "/q", limits: limits,
        diagnostics: { diagnostic in diagnostics.withLock { $0.append(diagnostic) } })
      let queue = try await DurableQueue.open(
        setup, pause: .seconds(1_000), patience: pauses.patience, clock: { pauses.now })
      try await body(queue, Program(setup.path), pauses, diagnostics)
      try await queue.close()
    }
  }

  /// A statement that another program has written into the file: each change of an entry fails.
  private static let refuses =
    "CREATE TRIGGER refuses BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'refused'); END"

  /// Lets other tasks run until the condition holds, or for so long that it never will.
  private func wait(for condition: () throws -> Bool) async throws {
    for _ in 0..<100_000 {
      if try condition() { return }
      await Task.yield()
    }
  }

  // MARK: Pauses

  @Test(arguments: [
    (Int64.min, 0), (-1, 0), (0, 0), (5, 5_000), (86_400_001, 86_400_000_000), (.max, 86_400_000_000),
  ])
  func `a pause takes its milliseconds, none if they are negative, and a day at most`(
    milliseconds: Int64, microseconds: Int
  ) async throws {
    try await withQueue { queue, _, pauses, _ in
      await queue.pause(milliseconds: milliseconds)
      #expect(pauses.all == [microseconds])
    }
  }

  @Test func `a sequence without an interval looks once a millisecond`() async throws {
    try await withQueue { queue, _, pauses, _ in
      pauses.react { [queue] _ in
        guard pauses.all.count == 3 else { return }
        Task { try await queue.enqueue(entry("a")) }
      }
      for await delivery in queue.deliveries(lookingEvery: .zero) {
        try await delivery.acknowledge()
        break
      }
      #expect(pauses.all.count >= 3 && pauses.all.allSatisfy { $0 == 1_000 }, "\(pauses.all)")
    }
  }

  @Test func `a file that another program writes to is tried again after a second`() async throws {
    try await withQueue { queue, other, pauses, diagnostics in
      try await queue.enqueue(entry("a"))
      try other.execute("BEGIN IMMEDIATE")
      pauses.react(toLong: 900_000) { try other.execute("ROLLBACK") }
      for await delivery in queue.deliveries() {
        try await delivery.acknowledge()
        break
      }
      #expect(pauses.long(900_000) == [1_000_000])
      #expect(diagnostics.value.isEmpty)
    }
  }

  @Test func `a file that takes no attempt is reported, and tried again after ten seconds`() async throws {
    try await withQueue { queue, other, pauses, diagnostics in
      try await queue.enqueue(entry("a"))
      try other.execute(Self.refuses)
      pauses.react(toLong: 9_000_000) { try other.execute("DROP TRIGGER refuses") }
      for await delivery in queue.deliveries() {
        try await delivery.acknowledge()
        break
      }
      // A change may end the pause. The next try then fails as well.
      #expect(pauses.long(9_000_000) == [10_000_000])
      #expect(Set(diagnostics.value.map(\.operation)) == [.delivery])
    }
  }

  @Test func `a lane whose postponement cannot be stored is held for as long`() async throws {
    try await withQueue { queue, other, pauses, _ in
      try await queue.enqueue(entry("a", lane: "lane"))
      let isHeld = Locked<[Bool]>([])
      pauses.react { pause in
        guard pause == 5_000_000 else { return }
        let isFree = try other.canTake("lane")
        isHeld.withLock { $0.append(!isFree) }
      }
      for await delivery in queue.deliveries() {
        try other.execute(Self.refuses)
        await delivery.retryLater(after: .seconds(5))
        break
      }
      try await wait { !isHeld.value.isEmpty }
      #expect(isHeld.value == [true])
      try await wait { try other.canTake("lane") }
      #expect(try other.canTake("lane"))
    }
  }

  @Test func `an entry without its payload waits an hour if the quarantine is full`() async throws {
    try await withQueue(QueueLimits(quarantinedEntries: 0)) { queue, other, _, _ in
      try await queue.enqueue(entry("a"))
      try other.execute("UPDATE payloads SET bytes=x'00'")
      for await _ in queue.deliveries(endsWhenIdle: true) { Issue.record("sent without its payload") }
      let readyAt = try await queue.read { try $0.entry(key("a")) }?.readyAt
      #expect(readyAt == noon.adding(milliseconds: 3_600_000))
    }
  }

  @Test(arguments: [(62, Int64(1) << 61), (63, 1 << 62), (64, 1 << 62), (.max, 1 << 62)])
  func `the widest delay doubles 62 times`(failures: Int, widest: Int64) {
    #expect(Backoff.widest(base: 1, ceiling: .max, afterFailures: failures) == widest)
  }

  // MARK: Changes

  @Test func `each of two that wait hears of changes, and several changes count as one`() async {
    let changes = Changes()
    let watched = [changes.watch(), changes.watch()]
    changes.notify()
    changes.notify()
    changes.end()
    for watcher in watched {
      var count = 0
      for await _ in watcher.stream { count += 1 }
      #expect(count == 1)
    }
  }

  @Test func `one that waits no longer ends for no other`() async {
    let changes = Changes()
    let (first, second, third) = (changes.watch(), changes.watch(), changes.watch())
    first.wake.finish()
    third.wake.finish()
    changes.notify()
    changes.end()
    var count = 0
    for await _ in second.stream { count += 1 }
    #expect(count == 1)
  }

  @Test func `nothing waits for changes after the end`() async {
    let changes = Changes()
    changes.end()
    for await _ in changes.watch().stream { Issue.record("a change after the end") }
  }
}
