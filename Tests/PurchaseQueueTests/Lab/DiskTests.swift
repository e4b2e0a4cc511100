import Foundation
import PurchaseQueue
import PurchaseSQLite
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A full disk, a missing permission, the lock of another process: a typed error, no change, and success afterwards.
@Suite struct DiskTests {
  @Test(arguments: ["enqueue", "acknowledge", "reserve"])
  func `a full disk is a typed error and changes nothing`(call: String) async throws {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory, hasVault: true)
      try site.fill(numbered("k", 20))
      let queue = try site.open(limits: QueueLimits(textBytes: 30_000))
      func run() throws {
        switch call {
        case "enqueue": _ = try queue.enqueue(entry("new", bytes: 20_000), now: noon)
        case "acknowledge":
          let long = String(repeating: "x", count: 20_000)
          try queue.acknowledge([Settlement(key: key("k003"), outcome: long)], now: noon)
        default:
          try queue.reserve(String(repeating: "r", count: 20_000), until: noon, now: noon)
        }
      }
      let before = (try queue.allEntries(), try queue.health(), try site.vault?.list())
      try queue.connection.execute("PRAGMA max_page_count=1")
      let error = #expect(throws: QueueError.self) { try run() }
      guard case .diskFull = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(try queue.allEntries() == before.0)
      #expect(try queue.health() == before.1)
      #expect(try site.vault?.list() == before.2)
      try queue.connection.execute("PRAGMA max_page_count=100000")
      try run()
      #expect(try queue.health() != before.1)
      #expect(try QueueCheck.run(path: site.path).isClean)
    }
  }

  @Test func `a full disk for one caller does not run the operation of another caller twice`()
    async throws
  {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory)
      try site.fill(["a"])
      let queue = try site.open()
      try queue.connection.execute("PRAGMA max_page_count=1")
      let errors = queue.groupCommit([
        operation { (file) throws(QueueError) in try file.postpone(key("a"), until: noon, now: noon) },
        operation { (file) throws(QueueError) in _ = try file.enqueue(entry("b", bytes: 50_000), now: noon) },
        operation { (file) throws(QueueError) in try file.recordAttempt([key("a")], now: noon) },
      ])
      #expect(errors.map { $0 == nil } == [true, false, true])
      #expect(try queue.entry(key("a"))?.attempts == 1)
      #expect(try queue.entry(key("a"))?.readyAt == noon)
      #expect(try queue.entry(key("a"))?.history.events.count == 2)
    }
  }

  @Test func `a lock of another connection is busy, and the call works after its release`() async throws {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory)
      try site.fill(["a"])
      let queue = try site.open()
      try queue.connection.execute("PRAGMA busy_timeout=1")
      let other = try Connection(path: site.path)
      try other.execute("BEGIN IMMEDIATE")
      let error = #expect(throws: QueueError.self) { try queue.enqueue(entry("b"), now: noon) }
      guard case .busy = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(try names(queue.allEntries()) == ["a"])
      try other.execute("ROLLBACK")
      _ = try queue.enqueue(entry("b"), now: noon)
      #expect(try names(queue.allEntries()) == ["a", "b"])
    }
  }

  @Test func `a process that was stopped with the lock cannot hang another process`() async throws {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory)
      try site.fill(["a"])
      let before = try files(in: directory)
      let error = await BlockingExecutor.offThePool { () -> QueueError? in
        do {
          let lock = try AdvisoryLock(path: site.path + "-lock")
          guard try lock.tryLock() else { return nil }
          _ = try site.open()
          lock.unlock()
        } catch {
          return error as? QueueError
        }
        return nil
      }
      guard case .busy = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(try files(in: directory) == before)
      #expect(try names(site.open().allEntries()) == ["a"])
    }
  }

  #if os(Linux) || os(macOS)
    @Test func `a file at its size limit is a typed error, and the call works after the limit`() async throws
    {
      try await withTemporaryDirectory { directory in
        let path = directory + "/q"
        await #expect(processExitsWith: .success) { [path = path as String] in
          signal(SIGXFSZ, SIG_IGN)
          let queue = try QueueFile(path: path, now: noon)
          _ = try queue.enqueue(entry("a"), now: noon)
          let before = try queue.health()
          try limitFileSize(to: 40_000)
          #expect(throws: QueueError.self) { try queue.enqueue(entry("b", bytes: 100_000), now: noon) }
          #expect(try queue.health().queued == before.queued)
          #expect(try names(queue.allEntries()) == ["a"])
          try limitFileSize(to: nil)
          _ = try queue.enqueue(entry("b", bytes: 100_000), now: noon)
          #expect(try QueueCheck.run(path: path).isClean)
        }
        let queue = try QueueFile(path: path, now: noon)
        #expect(try names(queue.allEntries()) == ["a", "b"])
      }
    }

    @Test(arguments: ["file", "directory"])
    func `without permission nothing is deleted, replaced or changed`(what: String) async throws {
      try await withTemporaryDirectory { directory in
        let site = Site(directory: directory)
        try site.fill(["a", "b"])
        let before = try files(in: directory)
        if geteuid() == 0 {
          for path in [directory, site.path, site.path + "-lock"] {
            #expect(unsafe chown(path, 65_534, 65_534) == 0)
          }
        }
        unsafe _ = chmod(what == "file" ? site.path : directory, what == "file" ? 0o400 : 0o500)
        defer { unsafe _ = chmod(directory, 0o700) }
        await #expect(processExitsWith: .success) { [path = site.path as String] in
          // Root ignores permissions, so another user has to try.
          if geteuid() == 0 { #expect(setuid(65_534) == 0) }
          do {
            let queue = try QueueFile(path: path, now: noon)
            // A read-only file can be opened; the write fails.
            #expect(try names(queue.allEntries()) == ["a", "b"])
            _ = try queue.enqueue(entry("c"), now: noon)
            Issue.record("it was written")
          } catch QueueError.cannotOpen(_, _) {
            return
          }
        }
        let after = try files(in: directory).filter { $0.key != "q-shm" && !$0.value.isEmpty }
        #expect(after == before.filter { !$0.value.isEmpty })
      }
    }
  #endif
}

#if os(Linux) || os(macOS)
  /// Limits the size of the files that this process writes; nil removes the limit.
  func limitFileSize(to size: Int?) throws {
    var limit = rlimit()
    try #require(unsafe getrlimit(fileSizeLimit, &limit) == 0)
    limit.rlim_cur = size.map { rlim_t($0) } ?? limit.rlim_max
    try #require(unsafe setrlimit(fileSizeLimit, &limit) == 0)
  }

  /// As `limitFileSize`; the write that would pass the limit kills the process.
  func dieOfFileSize(_ size: Int) throws {
    signal(SIGXFSZ, SIG_DFL)
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, SIGXFSZ)
    // A test runner may block this signal in its children.
    try #require(unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil) == 0)
    try limitFileSize(to: size)
  }

  #if canImport(Darwin)
    private let fileSizeLimit = RLIMIT_FSIZE
  #else
    private let fileSizeLimit = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
  #endif
#endif
