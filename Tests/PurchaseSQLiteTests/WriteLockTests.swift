import Foundation
import PurchaseSQLite
import Testing

/// The line of those that wait for one lock. Two values in one process exclude each other as two processes do.
@Suite struct WriteLockTests {
  @Test func `A process that writes all the time lets a waiting one pass`() throws {
    try withDatabasePath { path in
      let (busy, waiting) = (try WriteLock.open(path), try WriteLock.open(path))
      for round in 0..<20 {
        #expect(try busy.tryTake())
        #expect(try !waiting.tryTake())
        var row = 0
        repeat {
          busy.unlock()
          row += 1
        } while try busy.tryTake()
        #expect(row <= (round == 0 ? 17 : 5))
        #expect(try waiting.tryTake())
        waiting.unlock()
      }
    }
  }

  @Test func `A process that was stopped in the line stops no other`() throws {
    try withDatabasePath { path in
      let (writer, stopped) = (try WriteLock.open(path), try WriteLock.open(path))
      #expect(try writer.tryTake())
      #expect(try !stopped.tryTake())
      writer.unlock()
      var pauses = 0
      for _ in 0..<500 {
        #expect(try writer.take(timeoutMilliseconds: 5_000, pause: { _ in pauses += 1 }))
        writer.unlock()
      }
      // It waits once for the turn of the other one, and not again.
      #expect(pauses < 300)
    }
  }

  @Test func `Calls one after the other do not add up their times`() throws {
    try withDatabasePath { path in
      let (holder, other) = (try WriteLock.open(path), try WriteLock.open(path))
      #expect(try holder.tryTake())
      var microseconds = 0
      for _ in 0..<64 {
        #expect(try !other.take(timeoutMilliseconds: 5_000, pause: { microseconds += Int($0) }))
      }
      #expect((5_000_000...6_000_000).contains(microseconds))
      holder.unlock()
      #expect(try other.tryTake())
    }
  }

  @Test func `A call that gave up leaves the line`() throws {
    try withDatabasePath { path in
      let locks = [try WriteLock.open(path), try WriteLock.open(path), try WriteLock.open(path)]
      #expect(try locks[0].tryTake())
      #expect(try !locks[1].take(timeoutMilliseconds: 1, pause: { _ in }))
      #expect(try !locks[2].tryTake())
      locks[2].giveUp()
      let turn = try AdvisoryLock(path: path + "-turn")
      #expect(try turn.tryLock())
    }
  }

  @Test
  func `A lock ends with its value, though a child process that is starting has a copy of its descriptor`()
    throws
  {
    try withDatabasePath { path in
      let copy: Int32
      do {
        let lock = try AdvisoryLock(path: path)
        #expect(try lock.tryLock())
        copy = dup(try #require(descriptor(of: path)))
        #expect(try !AdvisoryLock(path: path).tryLock())
      }
      defer { close(copy) }
      #expect(try AdvisoryLock(path: path).tryLock())
    }
  }

  /// An open descriptor of the file.
  private func descriptor(of path: String) -> Int32? {
    var file = stat()
    guard unsafe stat(path, &file) == 0 else { return nil }
    return (0..<Int32(clamping: sysconf(Int32(_SC_OPEN_MAX)))).first { descriptor in
      var open = stat()
      return unsafe fstat(descriptor, &open) == 0 && open.st_dev == file.st_dev && open.st_ino == file.st_ino
    }
  }

  @Test func `Pauses are short at first and bounded later`() {
    var pauses = LockPauses()
    #expect((0..<20).map { _ in pauses.next() }.allSatisfy { $0 == 100 })
    while pauses.all < 5_000_000 { #expect(pauses.next() <= 5_000) }
    #expect(pauses.all < 5_005_000)
  }
}
