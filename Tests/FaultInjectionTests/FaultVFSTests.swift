import PurchaseSQLite
import Testing

@testable import FaultInjection

/// SQLite on a disk in memory, in processes of their own: the VFS is the default one of its process.
@Suite struct FaultVFSTests {
  private static let path = DiskImage.root + "/db"

  /// Makes a disk that keeps a log, and makes it the current disk.
  private static func disk(seed: UInt64 = 1) -> FaultDisk {
    let disk = FaultDisk(keepsLog: true)
    FaultVFS.begin(on: disk, seed: seed)
    return disk
  }

  /// A new database with a log, on the current disk.
  private static func database() throws -> Connection {
    let connection = try Connection(path: path)
    try connection.applyConnectionSettings()
    try connection.applyNewFileSettings()
    try connection.execute("CREATE TABLE t(x)")
    return connection
  }

  private static func sum(_ image: DiskImage) throws -> Int64? {
    FaultVFS.begin(on: FaultDisk(image), seed: 1)
    return try Connection(path: path).prepare("SELECT sum(x) FROM t").first { $0.integer(0) }
  }

  #if os(Linux) || os(macOS)
    @Test func `each image holds the commits that returned, and none holds a commit whose sync was lost`()
      async
    {
      await #expect(processExitsWith: .success) {
        demand(FaultVFS.install())
        let disk = FaultVFSTests.disk()
        let connection = try FaultVFSTests.database()
        try connection.execute("INSERT INTO t VALUES(1)")
        let before = disk.log.count
        try connection.execute("INSERT INTO t VALUES(2)")
        connection.leaveUntouchedOnClose()
        var replay = CrashReplay(start: DiskImage(), log: disk.log)
        replay.advance(to: before)
        while !replay.isAtEnd {
          replay.advance()
          for fate in [CrashState.Fate.kept, .dropped, .prefix(2), .noise(3)] {
            let state = CrashState(all: fate, count: replay.pending.count)
            let sum = try FaultVFSTests.sum(replay.image(state))
            demand(sum == 3 || sum == 1 && !replay.isAtEnd)
          }
        }
      }
    }

    @Test func `two runs of one seed are equal byte by byte, runs of two seeds are not`() async {
      await #expect(processExitsWith: .success) {
        demand(FaultVFS.install())
        func run(_ seed: UInt64) throws -> [String] {
          let disk = FaultVFSTests.disk(seed: seed)
          let connection = try FaultVFSTests.database()
          for _ in 0..<50 { try connection.execute("INSERT INTO t VALUES(random())") }
          return disk.log.map(\.content)
        }
        let runs = try [run(7), run(7), run(8)]
        demand(runs[0] == runs[1] && runs[0] != runs[2])
      }
    }

    @Test func `writers exclude each other, readers do not, and a closed connection releases its lock`() async
    {
      await #expect(processExitsWith: .success) {
        demand(FaultVFS.install())
        _ = FaultVFSTests.disk()
        let first = try FaultVFSTests.database()
        do {
          let second = try Connection(path: FaultVFSTests.path, busyTimeoutMilliseconds: 0)
          try first.execute("BEGIN IMMEDIATE; INSERT INTO t VALUES(1)")
          do {
            try second.execute("BEGIN IMMEDIATE")
            preconditionFailure("two writers")
          } catch let error as SQLiteError {
            demand(error.code.primary == .busy)
          }
          try demand(second.prepare("SELECT count(*) FROM t").first { $0.integer(0) } == 0)
          try first.execute("COMMIT")
          try demand(second.prepare("SELECT count(*) FROM t").first { $0.integer(0) } == 1)
          try second.execute("BEGIN IMMEDIATE; INSERT INTO t VALUES(2)")
        }
        try first.execute("INSERT INTO t VALUES(3)")
        try demand(first.prepare("SELECT sum(x) FROM t").first { $0.integer(0) } == 4)
      }
    }

    @Test
    func `an advisory lock excludes others and ends with its holder, and its file is on the disk in memory`()
      async
    {
      await #expect(processExitsWith: .success) {
        demand(FaultVFS.install())
        FaultVFS.begin(on: FaultDisk(), seed: 1)
        let name = DiskImage.root + "/lock"
        let second = try AdvisoryLock(path: name, on: .inMemory)
        do {
          let first = try AdvisoryLock(path: name, on: .inMemory)
          let isFirst = try first.tryLock()
          let isSecond = try second.tryLock()
          demand(isFirst && !isSecond)
        }
        let isFree = try second.tryLock()
        demand(isFree)
        try demand(Disk.inMemory.kind(of: name) == .file)
        try demand(Disk.inMemory.names(in: DiskImage.root) == ["lock"])
        second.release()
        demand(second.isOrphaned)
      }
    }

    @Test func `after each power cut, a replaced file has its old or its new content`() async {
      await #expect(processExitsWith: .success) {
        demand(FaultVFS.install())
        let disk = FaultDisk(keepsLog: true)
        FaultVFS.begin(on: disk, seed: 1)
        let (name, old, new) = (DiskImage.root + "/f", [UInt8](repeating: 1, count: 900), [UInt8]([2]))
        try Disk.inMemory.replace(name, with: old)
        let before = disk.log.count
        try Disk.inMemory.replace(name, with: new)
        var replay = CrashReplay(start: DiskImage(), log: disk.log)
        replay.advance(to: before)
        var random = SystemRandomNumberGenerator()
        while !replay.isAtEnd {
          replay.advance()
          for state in CrashState.states(of: replay.pending, cap: 100, random: &random) {
            let found = replay.image(state)[name]?.bytes
            demand(found == new || found == old && !replay.isAtEnd)
          }
        }
      }
    }

    @Test func `a failing disk makes the call fail and does not damage the database`() async {
      await #expect(processExitsWith: .success) {
        demand(FaultVFS.install())
        let disk = FaultVFSTests.disk()
        let connection = try FaultVFSTests.database()
        for kind in DiskFault.Kind.allCases {
          var ordinal = 1
          var refusals = 0
          while true {
            disk.fail(DiskFault(kind, at: ordinal, lasts: false))
            do {
              try connection.execute("INSERT INTO t VALUES(1)")
            } catch let error as SQLiteError {
              demand([.ioError, .full, .cannotOpen].contains(error.code.primary))
              refusals += 1
            }
            if disk.failures == 0 { break }
            ordinal += 1
          }
          disk.fail(nil)
          demand(refusals > 0)
          try demand(connection.prepare("PRAGMA integrity_check").first { $0.text(0) } == "ok")
        }
      }
    }
  #endif
}

extension DiskOperation {
  /// With every byte.
  fileprivate var content: String {
    if case .write(_, _, let bytes) = self { return summary + " \(bytes)" }
    return summary
  }
}
