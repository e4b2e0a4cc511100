import Foundation
import PurchaseQueue
import PurchaseSQLite
import TestSupport
import Testing

/// The books balance: what came in is settled, discarded, replaced, lost, queued or in quarantine.
@Suite struct BooksTests {
  /// Counts what happens in the model, one entry at a time, and knows nothing of places or rows.
  struct Ledger {
    var model = QueueModel(limits: ModelTests.limits)
    var entered = 0
    var settled = 0
    var discarded = 0

    mutating func run(_ operation: ModelTests.Operation, now: Int64) -> QueueError? {
      let before = model.items.count
      let error = operation.run(on: &model, now: now)
      let change = model.items.count - before
      if change > 0 { entered += change }
      guard change < 0 else { return error }
      if case .discard = operation { discarded -= change } else { settled -= change }
      return error
    }

    var books: QueueBooks {
      QueueBooks(
        entered: entered, queued: model.queued, quarantined: model.items.count - model.queued,
        discarded: discarded)
    }
  }

  /// Adds up the changes that a queue reports.
  final class Tally: Sendable {
    private let changes = Locked<[QueueChange]>([])

    func add(_ change: QueueChange) { changes.withLock { $0.append(change) } }

    func count(where isWanted: (QueueChange) -> Bool) -> Int { changes.value.count(where: isWanted) }

    var entered: Int { count { if case .entered = $0 { true } else { false } } }
    var settled: Int { count { if case .settled = $0 { true } else { false } } }
    var discarded: Int { count { $0 == .discarded } }
  }

  private func open(_ path: String, _ tally: Tally) throws -> QueueFile {
    var setup = QueueSetup(path: path, limits: ModelTests.limits)
    setup.changes = { tally.add($0) }
    return try QueueFile(setup, now: noon)
  }

  /// What a killed process leaves: the file and its log as they are.
  private func killed(_ path: String, into directory: String) throws -> String {
    let copy = directory + "/" + UUID().uuidString
    for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: path + suffix) {
      try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
    }
    return copy
  }

  @Test(arguments: LongTests.seeds(short: 6, long: 12))
  func `the books agree with a dumb count after each call and each kill`(seed: UInt64) async throws {
    try await withTemporaryDirectory { directory in
      var random = ModelTests.Random(state: seed &* 7_919)
      var ledger = Ledger()
      let tally = Tally()
      var path = directory + "/q"
      var queue = try open(path, tally)
      for step in 0..<100 {
        let now = Int64(step) * 10 + noon.milliseconds
        if random.below(12) == 0 {
          path = try killed(path, into: directory)
          queue = try open(path, tally)
        }
        var operations = (0...random.below(4)).map { _ in
          ModelTests.Operation.random(now: now, using: &random)
        }
        // A discard is rare, and each life is to have one.
        if step >= 10, ledger.discarded == 0, let waiting = ledger.model.items.first {
          operations.insert(.discard(waiting.key), at: 0)
        }
        let expected = operations.map { ledger.run($0, now: now) }
        // A call that fails next to others is undone alone, in the books and in the report too.
        #expect(queue.groupCommit(operations.map { $0.call(now: now) }) == expected)
        #expect(try queue.books() == ledger.books, "step \(step)")
        #expect(try queue.books().settled == ledger.settled, "step \(step)")
      }
      #expect(tally.entered == ledger.entered && tally.settled == ledger.settled)
      #expect(tally.discarded == ledger.discarded)
      #expect(ledger.settled > 0 && ledger.discarded > 0)
    }
  }

  @Test func `a change that was undone is not reported with the next one`() async throws {
    try await withTemporaryDirectory { directory in
      let tally = Tally()
      let queue = try open(directory + "/q", tally)
      _ = try queue.enqueue(entry("a"), now: noon)
      let undone = QueueError.invalid(what: "the companion fails")
      func fail() throws(QueueError) { throw undone }
      #expect(throws: undone) {
        try queue.enqueue(entry("b"), now: noon) { (_) throws(QueueError) in try fail() }
      }
      #expect(throws: undone) {
        try queue.transaction { () throws(QueueError) in
          try queue.acknowledge([Settlement(key: key("a"))], now: noon)
          try fail()
        }
      }
      #expect(throws: undone) {
        try queue.transaction { () throws(QueueError) in
          try queue.discard(key("a"), by: "support", reason: "a test", now: noon)
          try fail()
        }
      }
      #expect(tally.entered == 1)
      _ = try queue.enqueue(entry("c"), now: noon)
      #expect(tally.entered == 2)
      #expect(tally.settled == 0)
      #expect(tally.discarded == 0)
      #expect(try queue.books() == QueueBooks(entered: 2, queued: 2))
    }
  }

  @Test(arguments: ["details of k010", "details of k033"], [0, 7, 45])
  func `what a salvage loses is in the books, and everything else stays where it was`(
    spoilt: String, settled: Int
  ) async throws {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory)
      try site.fill(numbered("k", 50))
      do {
        let queue = try site.open()
        // From the end, so that the spoilt leaf still holds entries.
        let ended = numbered("k", 50).reversed().filter { !$0.hasPrefix("k01") && !$0.hasPrefix("k03") }
        for name in ended.prefix(settled / 2) {
          try queue.acknowledge([Settlement(key: key(name))], now: noon)
        }
        try queue.discard(key("k018"), by: "support", reason: "a test", now: noon)
        try queue.quarantine(key("k012"), reason: "a test", now: noon)
        try queue.connection.execute("VACUUM")
      }
      // The whole page: a salvage also finds rows behind a spoilt header.
      let start = try site.damage.offset(of: spoilt) / Damage.pageSize * Damage.pageSize
      try site.damage.write(Array(repeating: 0xEE, count: Damage.pageSize), at: start)
      try site.reopening { (queue) throws in
        let found = try queue.allEntries()
        let books = try queue.books()
        let lost = 49 - settled / 2 - found.count
        #expect(lost > 0, "the damage costs nothing: the test shows nothing")
        #expect(books.lost == lost && books.entered == 50 && books.restarts == 0)
        #expect(books.settled == settled / 2 && books.discarded == 1)
        #expect(books.queued == found.count { $0.state == .queued })
        #expect(books.quarantined == found.count { $0.state != .queued })
        #expect(queue.salvage?.lostEntries == lost)
        // The store delivers one of them again.
        _ = try queue.enqueue(entry(spoilt == "details of k010" ? "k010" : "k033"), now: noon)
        #expect(try queue.books().entered == 51 && queue.books().settled == settled / 2)
      }
    }
  }

  @Test func `a damaged row that is delivered again is replaced, and not settled`() async throws {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory)
      try site.fill(["a", "b", "c"])
      try site.damage.flip("details of b", 3)
      try site.reopening { (queue) throws in
        _ = try queue.allEntries()
        #expect(try queue.books() == QueueBooks(entered: 3, queued: 2, quarantined: 1))
        _ = try queue.enqueue(entry("b"), now: noon)
        #expect(try queue.books() == QueueBooks(entered: 4, queued: 3, replaced: 1))
        #expect(try queue.books().settled == 0)
      }
    }
  }

  @Test func `a replaced row is reported, and its history says so`() async throws {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory)
      try site.fill(["a"])
      try site.damage.flip("details of a", 3)
      let tally = Tally()
      let queue = try open(site.path, tally)
      _ = try queue.allEntries()
      _ = try queue.enqueue(entry("a"), now: noon)
      #expect(tally.count { $0 == .replaced } == 1)
      let history = try #require(try queue.entry(key("a"))).history
      #expect(history.events.map(\.what).contains("enqueued again; the earlier row was damaged"))
    }
  }

  @Test(arguments: ["totals SET queued=queued+5", "facts SET value='9 9 9 9 9' WHERE name='books'"])
  func `books that damage took begin anew and say so`(harm: String) async throws {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory)
      try site.fill(["a", "b", "c"])
      do {
        let queue = try site.open()
        try queue.acknowledge([Settlement(key: key("a"))], now: noon)
        try queue.discard(key("b"), by: "support", reason: "a test", now: noon)
        #expect(try queue.books() == QueueBooks(entered: 3, queued: 1, discarded: 1))
        try queue.connection.execute("UPDATE " + harm)
      }
      let queue = try site.open()
      #expect(try queue.books() == QueueBooks(entered: 1, queued: 1, restarts: 1))
      try queue.acknowledge([Settlement(key: key("c"))], now: noon)
      #expect(try site.open().books() == QueueBooks(entered: 1, restarts: 1))
      #expect(try site.open().books().settled == 1)
    }
  }

  @Test func `a reinstall begins new books with what the vault brings`() async throws {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory, hasVault: true)
      try site.fill(["a", "b"])
      for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: site.path + suffix) {
        try site.damage.remove(suffix)
      }
      #expect(try site.open().books() == QueueBooks(entered: 2, queued: 2))
    }
  }
}
