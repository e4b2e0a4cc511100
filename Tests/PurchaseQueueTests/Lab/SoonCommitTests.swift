import FaultInjection
import PurchaseSQLite
import Testing

@testable import PurchaseQueue

/// Commits that are promised soon: they survive a kill, and a power cut with the next durable commit.
@Suite struct SoonCommitTests {
  @Test func `a note is read as it was written, and says nothing if a byte of it is broken`() {
    let note = LogNote(salts: 0xFEDC_BA98_7654_3210, end: 4_711)
    #expect(LogNote(note.bytes) == note)
    #expect(LogNote([]) == .none)
    for place in 0..<LogNote.size {
      var bytes = note.bytes
      bytes[place] ^= 0x10
      #expect(LogNote(bytes) == .none, "byte \(place)")
    }
  }

  @Test func `a long log is emptied in a long pause, and not in a short one`() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/q"
      let limits = QueueLimits(entries: 1_000, totalBytes: 10 << 20)
      let queue = try QueueFile(path: path, limits: limits, now: noon)
      func log() throws -> Int { try Disk.system.size(of: path + "-wal") }
      for index in 0..<100 { _ = try queue.enqueue(entry("k\(index)", bytes: 8_000), now: noon) }
      try queue.maintainLog(now: noon, isShort: true)
      #expect(try log() > 512 << 10)
      try queue.maintainLog(now: noon)
      #expect(try log() == 0)
      // It ends all the same if there is no long pause.
      var index = 100
      while try log() <= 3 << 20 {
        _ = try queue.enqueue(entry("k\(index)", bytes: 8_000), now: noon)
        index += 1
      }
      try queue.recordAttempt([key("k1")], now: noon)
      try queue.maintainLog(now: noon, isShort: true)
      #expect(try log() == 0)
    }
  }

  @Test func `emptying the log makes durable what was promised soon`() async throws {
    try await withTemporaryDirectory { directory in
      let queue = try QueueFile(
        path: directory + "/q", limits: QueueLimits(entries: 1_000, totalBytes: 10 << 20), now: noon)
      for index in 0..<100 { _ = try queue.enqueue(entry("k\(index)", bytes: 8_000), now: noon) }
      try queue.recordAttempt([key("k1")], now: noon)
      #expect(queue.hasSoonCommits)
      try queue.maintainLog(now: noon)
      #expect(!queue.hasSoonCommits)
    }
  }

  #if os(Linux) || os(macOS)
    /// What a power cut leaves if nothing that was not synced arrives.
    private static func cut(_ disk: FaultDisk, _ start: DiskImage) throws -> QueueFile {
      var replay = CrashReplay(start: start, log: disk.log)
      replay.advance(to: disk.log.count)
      let state = CrashState(all: .dropped, count: replay.pending.count)
      FaultVFS.begin(on: FaultDisk(replay.image(state)), seed: 1)
      return try open()
    }

    private static func open() throws -> QueueFile {
      try QueueFile(QueueSetup(path: DiskImage.root + "/q", disk: .inMemory), now: noon)
    }

    private static func syncs(_ disk: FaultDisk, _ body: () throws -> Void) rethrows -> Int {
      let before = disk.log.count
      try body()
      return disk.log[before...].count { if case .sync = $0 { true } else { false } }
    }

    @Test func `an attempt costs no sync, and a power cut loses at most its count`() async {
      await #expect(processExitsWith: .success) {
        demand(FaultVFS.install())
        let disk = FaultDisk(keepsLog: true)
        FaultVFS.begin(on: disk, seed: 1)
        let queue = try Self.open()
        try demand(Self.syncs(disk) { _ = try queue.enqueue(entry("a"), now: noon) } >= 1)
        try demand(Self.syncs(disk) { try queue.recordAttempt([key("a")], now: noon) } == 0)
        demand(queue.hasSoonCommits)
        try demand(Self.cut(disk, DiskImage()).entry(key("a"))?.attempts == 0)
        // The next durable commit takes it along.
        FaultVFS.begin(on: disk, seed: 1)
        try demand(Self.syncs(disk) { _ = try queue.enqueue(entry("b"), now: noon) } == 1)
        demand(!queue.hasSoonCommits)
        try demand(Self.cut(disk, DiskImage()).entry(key("a"))?.attempts == 1)
      }
    }

    @Test func `closing and making durable sync what was promised soon, and nothing else`() async {
      await #expect(processExitsWith: .success) {
        demand(FaultVFS.install())
        let disk = FaultDisk(keepsLog: true)
        FaultVFS.begin(on: disk, seed: 1)
        let queue = try Self.open()
        _ = try queue.enqueue(entry("a"), now: noon)
        try demand(Self.syncs(disk) { try queue.makeDurable() } == 0)
        try queue.recordAttempt([key("a")], now: noon)
        try demand(Self.syncs(disk) { try queue.makeDurable() } == 1)
        try demand(Self.syncs(disk) { try queue.makeDurable() } == 0)
        var other: QueueFile? = try Self.open()
        _ = try other?.enqueue(entry("b"), now: noon)
        try other?.recordAttempt([key("b")], now: noon)
        // The file stays open in the first connection: closing the second one checkpoints nothing.
        demand(Self.syncs(disk) { other = nil } == 1)
        try demand(Self.cut(disk, DiskImage()).entry(key("b"))?.attempts == 1)
      }
    }

    @Test func `a durable part makes a commit durable that began as one that is promised soon`() async {
      await #expect(processExitsWith: .success) {
        demand(FaultVFS.install())
        let disk = FaultDisk(keepsLog: true)
        FaultVFS.begin(on: disk, seed: 1)
        let queue = try Self.open()
        _ = try queue.enqueue(entry("a"), now: noon)
        let syncs = try Self.syncs(disk) {
          try queue.transaction(.soon) { () throws(QueueError) in
            try queue.recordAttempt([key("a")], now: noon)
            _ = try queue.enqueue(entry("b"), now: noon)
          }
        }
        demand(syncs == 1 && !queue.hasSoonCommits)
      }
    }

    @Test func `the header of a log that starts again is synced also for a commit that is promised soon`()
      async
    {
      await #expect(processExitsWith: .success) {
        demand(FaultVFS.install())
        let disk = FaultDisk(keepsLog: true)
        FaultVFS.begin(on: disk, seed: 1)
        let queue = try Self.open()
        _ = try queue.enqueue(entry("a"), now: noon)
        try queue.connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
        // The header, and no frames.
        try demand(Self.syncs(disk) { try queue.recordAttempt([key("a")], now: noon) } == 1)
        demand(queue.hasSoonCommits)
        try demand(Self.cut(disk, DiskImage()).entry(key("a"))?.attempts == 0)
      }
    }
  #endif
}
