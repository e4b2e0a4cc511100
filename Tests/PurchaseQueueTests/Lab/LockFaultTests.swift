import FaultInjection
import PurchaseSQLite
import Testing

@testable import PurchaseQueue

#if os(Linux) || os(macOS)
  /// Locks on a disk that fails.
  @Suite struct LockFaultTests {
    @Test func `a lease that is released twice leaves the lock of the next sender`() async {
      await #expect(processExitsWith: .success) {
        demand(FaultVFS.install())
        let disk = FaultDisk()
        FaultVFS.begin(on: disk, seed: 1)
        let queue = try QueueFile(QueueSetup(path: DiskImage.root + "/q", disk: .inMemory), now: noon)
        let lane = Lane.account("alice")
        let first = try queue.lease(lane)
        // The file of the lock cannot be removed.
        disk.fail(DiskFault(.ioError, at: 1, lasts: true))
        first?.release()
        disk.fail(nil)
        let second = try queue.lease(lane)
        demand(first != nil && second != nil)
        first?.release()
        demand(try queue.lease(lane) == nil)
        second?.release()
        demand(try queue.lease(lane) != nil)
      }
    }

    @Test func `a process waits for a writer also on a full disk`() async {
      await #expect(processExitsWith: .success) {
        demand(FaultVFS.install())
        let disk = FaultDisk()
        FaultVFS.begin(on: disk, seed: 1)
        let holder = try WriteLock.open(DiskImage.root + "/q", on: .inMemory)
        let waiting = try WriteLock.open(DiskImage.root + "/q", on: .inMemory)
        demand(try holder.tryTake())
        disk.fail(DiskFault(.full, at: 1, lasts: true))
        demand(try !waiting.tryTake())
        holder.unlock()
        demand(try waiting.tryTake())
        demand(disk.failures > 0)
      }
    }
  }
#endif
