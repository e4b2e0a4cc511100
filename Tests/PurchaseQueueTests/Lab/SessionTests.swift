import Foundation
import PurchaseQueue
import PurchaseSQLite
import Testing

/// What a usual session writes: the app starts, delivers one purchase, and ends.
@Suite struct SessionTests {
  private func deliver(_ name: String, _ queue: QueueFile) throws {
    _ = try queue.enqueue(entry(name, bytes: 8_000), now: noon)
    try queue.recordAttempt([key(name)], now: noon)
    try queue.acknowledge([Settlement(key: key(name))], now: noon)
  }

  @Test func `a session writes no zeros ahead`() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/q"
      try deliver("first", QueueFile(path: path, now: noon))
      let queue = try QueueFile(path: path, now: noon)
      try deliver("second", queue)
      // Every page that the purchase needs, and nothing else: 256 KiB with zeros.
      #expect(try Disk.system.size(of: path + "-wal") < 40_000)
      #expect(try queue.count() == 0)
    }
  }

  @Test func `a long burst writes zeros ahead in small pieces`() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/q"
      let queue = try QueueFile(path: path, limits: QueueLimits(entries: 1_000), now: noon)
      for index in 0..<40 { _ = try queue.enqueue(entry("k\(index)", bytes: 8_000 + index), now: noon) }
      let log = Array(try Data(contentsOf: URL(fileURLWithPath: path + "-wal")))
      let zeros = log.count - 1 - (log.lastIndex { $0 != 0 } ?? 0)
      #expect((1...65_536 + 1_024).contains(zeros) && log.count.isMultiple(of: 65_536))
      #expect(try QueueCheck.run(path: path).isClean)
    }
  }

  @Test func `totals stay right beside a connection that changes them`() async throws {
    try await withTemporaryDirectory { directory in
      let limits = QueueLimits(entries: 10)
      let queues = try (0..<2).map { _ in try QueueFile(path: directory + "/q", limits: limits, now: noon) }
      for index in 0..<10 {
        _ = try queues[index % 3 % 2].enqueue(entry("k\(index)"), now: noon)
        if index == 4 {
          // A refused part of a group takes its counts along.
          let errors = queues[0].groupCommit([
            operation { (file) throws(QueueError) in
              _ = try file.enqueue(entry("refused", bytes: 5 << 20), now: noon)
              throw .invalid(what: "planned")
            },
            operation { (file) throws(QueueError) in try file.cancelReservation("none") },
          ])
          #expect(errors[0] != nil && errors[1] == nil)
        }
        #expect(try queues.map { try $0.count() } == [index + 1, index + 1])
      }
      for queue in queues {
        #expect(throws: QueueError.self) { _ = try queue.enqueue(entry("eleventh"), now: noon) }
      }
      try queues[0].acknowledge([Settlement(key: key("k0"))], now: noon)
      _ = try queues[1].enqueue(entry("eleventh"), now: noon)
      #expect(try queues[0].allEntries().map(\.place) == Array(2...11))
    }
  }
}
