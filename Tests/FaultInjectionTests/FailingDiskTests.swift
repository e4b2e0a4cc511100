import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync
import TestSupport
import Testing

@testable import FaultInjection

/// Faults that `crash-images` found in the queue and the journal.
@Suite struct FailingDiskTests {
  private static let noon = Timestamp(milliseconds: 1_767_268_800_000)
  private static let path = DiskImage.root + "/queue.sqlite"

  private static func open(_ disk: FaultDisk) throws -> SyncFile {
    FaultVFS.begin(on: disk, seed: 1)
    return try SyncFile(
      queue: QueueFile(QueueSetup(path: path, vault: DiskVault(disk), disk: .inMemory), now: noon))
  }

  private static func order(_ number: String) -> OrderDocument {
    OrderDocument(
      number: number, accountToken: UUID(uuid: (1, 0, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, 9)),
      productID: "gems", quantity: 1, state: .open, createdAt: noon)
  }

  /// Entry "a" with a payload and order "7", and entry "b"; both in the vault too.
  private static func filled() throws -> DiskImage {
    let disk = FaultDisk()
    let file = try open(disk)
    let asked = try file.request(
      account: "alice", product: "gems", quantity: 1, proposing: "asked", waiting: [], now: noon)
    _ = try file.save(order("7"), account: "alice", answering: asked, now: noon)
    for (key, number) in [("a", "7" as String?), ("b", nil)] {
      let payload = Payload(
        kind: "payload", bytes: Array(repeating: UInt8(key.utf8.first ?? 0), count: 2_000))
      let new = NewEntry(
        key: EntryKey(rawValue: key), lane: .account("alice"), orderNumber: number, payloads: [payload])
      _ = try file.queue.enqueue(new, now: noon)
    }
    try file.queue.transaction { () throws(QueueError) in
      try QueueError.wrap(path) { () throws(SQLiteError) in
        try file.queue.connection.execute("UPDATE orders SET bound_to=NULL")
      }
    }
    return disk.image
  }

  private static func hasPayload(_ entry: Entry, in file: SyncFile) throws -> Bool {
    try entry.payloads.contains { try file.queue.payload($0) != nil }
  }

  /// Repeats `body` and lets another operation of the disk fail each time. The disk works again for `check`.
  private static func failEachOperation(
    of image: DiskImage, in body: (FaultDisk) throws -> Void, then check: (FaultDisk) throws -> Void
  ) throws {
    var ordinal = 0
    while true {
      ordinal += 1
      let disk = FaultDisk(image)
      FaultVFS.begin(on: disk, seed: 1)
      disk.fail(DiskFault(.ioError, at: ordinal, lasts: false))
      try body(disk)
      let hasFailed = disk.failures > 0
      disk.fail(nil)
      try check(disk)
      if !hasFailed { break }
    }
    demand(ordinal > 50)
  }

  #if os(Linux) || os(macOS)
    /// What an earlier salvage left that was killed: so many bytes of its file.
    @Test(arguments: LongTests.some([0, 2_048, 100_000], every: 2))
    func `a disk that fails during a salvage costs no row that the next salvage can read`(left: Int) async {
      await #expect(processExitsWith: .success) { [left = left as Int] in
        demand(FaultVFS.install())
        var image = try FailingDiskTests.filled()
        image.vault = [:]
        if left > 0, var file = image[FailingDiskTests.path] {
          file.resize(to: min(left, file.size))
          image.files[901] = file
          image.names[FailingDiskTests.path + "-salvage"] = 901
        }
        // The damage mark of a process that could not read a page.
        image.files[900] = FileContent()
        image.names[FailingDiskTests.path + "-damage"] = 900
        try FailingDiskTests.failEachOperation(of: image) { _ in
          do throws(QueueError) {
            _ = try QueueFile(
              QueueSetup(path: FailingDiskTests.path, disk: .inMemory), now: FailingDiskTests.noon)
          } catch {
            if case .damaged = error { preconditionFailure("\(error)") }
          }
        } then: { disk in
          let file = try FailingDiskTests.open(disk)
          try demand(file.queue.allEntries().map(\.key.rawValue) == ["a", "b"])
          let orders = try file.queue.connection.prepare("SELECT number FROM orders").all { $0.text(0) }
          demand(orders == ["7"])
        }
      }
    }

    @Test func `a vault that fails while a purchase is restored gives its payload and its order later`() async
    {
      await #expect(processExitsWith: .success) {
        demand(FaultVFS.install())
        var image = try FailingDiskTests.filled()
        (image.names, image.files) = ([:], [:])
        try FailingDiskTests.failEachOperation(of: image) { disk in
          do { _ = try FailingDiskTests.open(disk) } catch is QueueError {}
        } then: { disk in
          let file = try FailingDiskTests.open(disk)
          let entries = try file.queue.allEntries()
          demand(entries.map(\.key.rawValue) == ["a", "b"])
          for entry in entries { try demand(FailingDiskTests.hasPayload(entry, in: file)) }
          let bound = try file.queue.connection.prepare("SELECT bound_to FROM orders").all {
            $0.optionalText(0)
          }
          demand(bound == ["a"])
        }
      }
    }

    @Test func `a file is still ours after a power cut during the write of its first page`()
      async
    {
      await #expect(processExitsWith: .success) {
        demand(FaultVFS.install())
        let disk = FaultDisk(keepsLog: true)
        _ = try FailingDiskTests.open(disk)
        var replay = CrashReplay(start: DiskImage(), log: disk.log)
        var random = RandomSource(seed: 1)
        var images = 0
        for _ in 0..<20 {
          replay.advance()
          for state in CrashState.states(of: replay.pending, cap: 40, random: &random) {
            let file = try FailingDiskTests.open(FaultDisk(replay.image(state)))
            try demand(file.queue.count() == 0)
            images += 1
          }
        }
        demand(images > 100)
      }
    }
  #endif
}
