import FaultInjection
import PurchaseSQLite
import Testing

@testable import PurchaseQueue

/// A commit whose sync fails throws. What it wrote may be on the disk all the same: the third outcome.
@Suite struct FailedSyncTests {
  #if os(Linux) || os(macOS)
    @Test(arguments: ["enqueue", "acknowledge"])
    func `after a failed disk operation a call has happened or not, and its repetition is right`(
      call: String
    ) async {
      await #expect(processExitsWith: .success) { [call = call as String] in
        demand(FaultVFS.install())
        var (ordinal, third, refused) = (0, 0, 0)
        while true {
          ordinal += 1
          let disk = FaultDisk()
          func open(_ disk: FaultDisk) throws -> QueueFile {
            FaultVFS.begin(on: disk, seed: 1)
            return try QueueFile(QueueSetup(path: DiskImage.root + "/q", disk: .inMemory), now: noon)
          }
          func run(_ queue: QueueFile) throws(QueueError) {
            if call == "enqueue" {
              _ = try queue.enqueue(entry("new"), now: noon)
            } else {
              try queue.acknowledge([Settlement(key: key("old"), outcome: "granted")], now: noon)
            }
          }
          func isDone(_ queue: QueueFile) throws -> Bool {
            call == "enqueue" ? try queue.entry(key("new")) != nil : try queue.entry(key("old")) == nil
          }
          var queue = try open(disk)
          _ = try queue.enqueue(entry("old"), now: noon)
          disk.fail(DiskFault(.ioError, at: ordinal, lasts: false))
          var hasThrown = false
          do throws(QueueError) { try run(queue) } catch { hasThrown = true }
          let hasFailed = disk.failures > 0
          disk.fail(nil)
          // This process sees nothing of a call that threw.
          if hasThrown { try demand(!isDone(queue)) }
          // The process is killed; the system keeps what was written.
          let image = disk.image
          queue = try open(FaultDisk(image))
          let next = queue
          let isThere = try isDone(next)
          demand(isThere || hasThrown)
          if hasThrown { refused += 1 }
          if hasThrown, isThere { third += 1 }
          // The same call again: one entry, one tombstone.
          try run(next)
          try demand(isDone(next))
          try demand(next.count() == (call == "enqueue" ? 2 : 0))
          try demand(next.health().tombstones == (call == "enqueue" ? 0 : 1))
          if !hasFailed { break }
        }
        demand(refused >= 3 && third > 0 && third < refused)
      }
    }
  #endif
}
