import FaultInjection
import PurchaseSQLite
import Testing

@testable import PurchaseQueue

/// A disk that refuses for a while: the device is locked and its files are protected (every call fails), or the file
/// system takes no more writes.
@Suite struct LockedDeviceTests {
  #if os(Linux) || os(macOS)
    @Test(arguments: ["ioerr", "full"], [true, false])
    func `a refusing disk is a typed error, loses nothing, and the queue works when it is back`(
      kind: String, isOpen: Bool
    ) async {
      await #expect(processExitsWith: .success) { [kind = kind as String, isOpen = isOpen as Bool] in
        demand(FaultVFS.install())
        let disk = FaultDisk()
        FaultVFS.begin(on: disk, seed: 1)
        func open() throws(QueueError) -> QueueFile {
          try QueueFile(QueueSetup(path: DiskImage.root + "/q", disk: .inMemory), now: noon)
        }
        var queue: QueueFile? = try open()
        _ = try queue?.enqueue(entry("old"), now: noon)
        if !isOpen { queue = nil }
        guard let fault = DiskFault.Kind(rawValue: kind) else { preconditionFailure() }
        disk.fail(DiskFault(fault, at: 1, lasts: true))
        var refusals = 0
        for _ in 0..<3 {
          do throws(QueueError) {
            if queue == nil { queue = try open() }
            _ = try queue?.enqueue(entry("new"), now: noon)
          } catch {
            switch error {
            case .cannotOpen, .diskFull, .storage: refusals += 1
            default: preconditionFailure("\(error)")
            }
          }
        }
        demand(refusals == 3 && disk.failures > 0)
        disk.fail(nil)
        let back = try queue ?? open()
        demand(back.salvage == nil)
        _ = try back.enqueue(entry("new"), now: noon)
        try demand(back.allEntries().map(\.key.rawValue) == ["old", "new"])
      }
    }

    @Test(arguments: ["ioerr", "full"])
    func `an entry that was neither mirrored nor flagged is mirrored in the next pause`(kind: String) async {
      await #expect(processExitsWith: .success) { [kind = kind as String] in
        demand(FaultVFS.install())
        guard let fault = DiskFault.Kind(rawValue: kind) else { preconditionFailure() }
        let disk = FaultDisk()
        FaultVFS.begin(on: disk, seed: 1)
        // Right after the commit, neither the vault nor the file takes anything more.
        let setup = QueueSetup(
          path: DiskImage.root + "/q", vault: DiskVault(disk), disk: .inMemory,
          checkpoint: { point in
            if point == .enqueueCommitted { disk.fail(DiskFault(fault, at: 1, lasts: true)) }
          })
        let queue = try QueueFile(setup, now: noon)
        _ = try queue.enqueue(entry("a"), now: noon)
        demand(disk.failures > 0)
        disk.fail(nil)
        try demand(queue.entry(key("a"))?.isUnprotected == false && disk.image.vault["entry.a"] == nil)
        try demand(queue.unprotectedKeys() == [key("a")] && queue.health().unprotected == 1)
        try queue.maintain(now: noon)
        demand(disk.image.vault["entry.a"] != nil)
        try demand(queue.unprotectedKeys().isEmpty && queue.health().unprotected == 0)
      }
    }

    @Test(arguments: ["call", "check"])
    func `a read that fails once is no damage`(reader: String) async {
      await #expect(processExitsWith: .success) { [reader = reader as String] in
        demand(FaultVFS.install())
        let disk = FaultDisk()
        FaultVFS.begin(on: disk, seed: 1)
        let path = DiskImage.root + "/q"
        do {
          let queue = try QueueFile(QueueSetup(path: path, disk: .inMemory), now: noon)
          for index in 0..<20 { _ = try queue.enqueue(entry("k\(index)", bytes: 5_000), now: noon) }
        }
        let image = disk.image
        var (ordinal, refused) = (0, 0)
        while true {
          ordinal += 1
          let disk = FaultDisk(image)
          FaultVFS.begin(on: disk, seed: 1)
          let queue = try QueueFile(QueueSetup(path: path, disk: .inMemory), now: noon)
          disk.fail(DiskFault(.ioError, at: ordinal, lasts: false))
          do throws(QueueError) {
            if reader == "call" {
              for entry in try queue.allEntries() {
                for payload in entry.payloads { _ = try queue.payload(payload) }
              }
            } else {
              try demand(QueueCheck.run(path: path, on: .inMemory).isClean)
            }
          } catch {
            refused += 1
            switch error {
            case .storage, .cannotOpen: break
            default: preconditionFailure("\(error)")
            }
          }
          let hasFailed = disk.failures > 0
          disk.fail(nil)
          demand(disk.image.names[path + "-damage"] == nil)
          if !hasFailed { break }
        }
        demand(ordinal > 10 && refused > 5)
      }
    }
  #endif
}
