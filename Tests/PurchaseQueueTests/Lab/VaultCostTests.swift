import FaultInjection
import PurchaseSQLite
import Testing

@testable import PurchaseQueue

/// What a vault costs: syncs for each call, and calls for each opening and each pause.
@Suite struct VaultCostTests {
  /// Counts the calls, and has no space on demand.
  private final class CountingVault: QueueVault {
    private let base: DirectoryVault
    let calls = Locked<[String: Int]>([:])
    let isFull = Locked(false)

    init(_ directory: String) { base = DirectoryVault(directory: directory) }

    private func count(_ call: String) { calls.withLock { $0[call, default: 0] += 1 } }

    var all: Int { calls.value.values.reduce(0, +) }
    var itemBytes: Int { base.itemBytes }

    func store(_ item: VaultItem) throws(VaultError) {
      count("store")
      // A keychain that is nearly full has space for small items.
      if isFull.value, item.bytes.count > 1_000 { throw .full(reason: "imitated") }
      try base.store(item)
    }
    func remove(named name: String) throws(VaultError) {
      count("remove")
      try base.remove(named: name)
    }
    func list() throws(VaultError) -> [String] {
      count("list")
      return try base.list()
    }
    func item(named name: String) throws(VaultError) -> VaultItem? {
      count("item")
      return try base.item(named: name)
    }
  }

  @Test func `an opening asks the vault once for each entry`() async throws {
    try await withTemporaryDirectory { directory in
      let vault = CountingVault(directory + "/vault")
      let queue = try QueueFile(path: directory + "/q", vault: vault, now: noon)
      for name in numbered("e", 60) { _ = try queue.enqueue(entry(name, bytes: 5_000), now: noon) }
      vault.calls.withLock { $0 = [:] }
      _ = try QueueFile(path: directory + "/q", vault: vault, now: noon)
      #expect(vault.calls.value == ["list": 2, "item": 60])
    }
  }

  @Test func `a pause with a full vault costs a few calls, however many entries wait`() async throws {
    try await withTemporaryDirectory { directory in
      let vault = CountingVault(directory + "/vault")
      vault.isFull.withLock { $0 = true }
      let queue = try QueueFile(path: directory + "/q", vault: vault, now: noon)
      for (index, name) in numbered("e", 60).enumerated() {
        _ = try queue.enqueue(entry(name, bytes: 5_000 + index), now: noon)
      }
      #expect(try queue.health().unprotected == 60)
      vault.calls.withLock { $0 = [:] }
      try queue.maintain(now: noon)
      #expect(vault.all <= 12, "\(vault.calls.value)")
      let opened = try QueueFile(path: directory + "/q", vault: vault, now: noon)
      #expect(vault.all <= 90, "\(vault.calls.value)")
      #expect(try opened.health().unprotected == 60)
      // There is space again.
      vault.isFull.withLock { $0 = false }
      try queue.maintain(now: noon)
      #expect(try queue.health().unprotected == 0)
      let fresh = try QueueFile(path: directory + "/fresh", vault: vault, now: noon)
      #expect(try fresh.allEntries().allSatisfy { !$0.payloads.contains(where: \.isByReference) })
    }
  }

  @Test func `a locked vault is asked once in a pause`() async throws {
    try await withTemporaryDirectory { directory in
      let vault = FaultyVault(directory: directory + "/vault")
      vault.imitate(.locked)
      let reported = Locked(0)
      let queue = try QueueFile(
        path: directory + "/q", vault: vault, now: noon.date,
        diagnostics: { _ in reported.withLock { $0 += 1 } })
      for name in numbered("e", 20) { _ = try queue.enqueue(entry(name), now: noon) }
      #expect(try queue.health().unprotected == 20)
      reported.withLock { $0 = 0 }
      try queue.maintain(now: noon)
      #expect(reported.value == 1)
    }
  }

  #if os(Linux) || os(macOS)
    @Test func `an enqueue with a directory vault costs two syncs, and an acknowledgement one`() async {
      await #expect(processExitsWith: .success) {
        demand(FaultVFS.install())
        let disk = FaultDisk(keepsLog: true)
        FaultVFS.begin(on: disk, seed: 1)
        let vault = DirectoryVault(directory: DiskImage.root + "/vault", on: .inMemory)
        let queue = try QueueFile(
          QueueSetup(path: DiskImage.root + "/q", vault: vault, disk: .inMemory), now: noon)
        func syncs(_ body: () throws -> Void) rethrows -> Int {
          let before = disk.log.count
          try body()
          return disk.log[before...].count {
            switch $0 {
            case .sync, .syncDirectory: true
            default: false
            }
          }
        }
        for name in ["first", "second"] { _ = try queue.enqueue(entry(name, bytes: 5_000), now: noon) }
        let names = numbered("e", 40)
        let enqueuing = try syncs {
          for name in names { _ = try queue.enqueue(entry(name, bytes: 5_000), now: noon) }
        }
        demand(enqueuing <= 2 * names.count)
        let settling = try syncs {
          for name in names { try queue.acknowledge([Settlement(key: key(name))], now: noon) }
        }
        demand(settling <= names.count)
        // A long run, in which the vault's file is replaced now and then.
        let both = try syncs {
          for name in numbered("r", 300) {
            _ = try queue.enqueue(entry(name, bytes: 5_000), now: noon)
            try queue.acknowledge([Settlement(key: key(name))], now: noon)
          }
        }
        demand(both <= 300 * 3 + 100)
      }
    }

    @Test func `a directory that a killed process has made gets a durable name with its first item`() async {
      await #expect(processExitsWith: .success) {
        demand(FaultVFS.install())
        let disk = FaultDisk(keepsLog: true)
        FaultVFS.begin(on: disk, seed: 1)
        // The process was killed before it synced the directory above.
        disk.makeDirectory(DiskImage.root + "/vault")
        let vault = DirectoryVault(directory: DiskImage.root + "/vault", on: .inMemory)
        func syncsAbove() -> Int {
          disk.log.count { if case .syncDirectory(DiskImage.root) = $0 { true } else { false } }
        }
        for name in ["a", "b"] {
          try vault.store(VaultItem(name: name, bytes: [1]))
          demand(syncsAbove() == 1)
        }
      }
    }

    @Test(arguments: [false, true])
    func `an item survives a power cut after the replacement of the vault's file has failed`(
      isReopened: Bool
    ) async {
      await #expect(processExitsWith: .success) { [isReopened = isReopened as Bool] in
        demand(FaultVFS.install())
        func open() -> DirectoryVault { DirectoryVault(directory: DiskImage.root + "/vault", on: .inMemory) }
        func store(_ name: String, _ vault: DirectoryVault) throws(VaultError) {
          try vault.store(VaultItem(name: name, bytes: [UInt8](repeating: 7, count: 8_000)))
        }
        let disk = FaultDisk()
        FaultVFS.begin(on: disk, seed: 1)
        do {
          let vault = open()
          for _ in 0..<30 { try store("again", vault) }
        }
        let start = disk.image
        var (ordinal, refused) = (0, 0)
        while true {
          ordinal += 1
          let disk = FaultDisk(start, keepsLog: true)
          FaultVFS.begin(on: disk, seed: 1)
          let vault = open()
          disk.fail(DiskFault(.ioError, at: ordinal, lasts: false))
          // The fifth replaces the file.
          for _ in 0..<8 {
            do throws(VaultError) { try store("again", vault) } catch { refused += 1 }
          }
          let hasFailed = disk.failures > 0
          disk.fail(nil)
          try store("last", isReopened ? open() : vault)
          var replay = CrashReplay(start: start, log: disk.log)
          replay.advance(to: disk.log.count)
          FaultVFS.begin(on: FaultDisk(replay.durable), seed: 1)
          try demand(open().list() == ["again", "last"])
          if !hasFailed { break }
        }
        demand(refused > 10)
      }
    }

    @Test func `after a power cut at any place, a new install has every purchase that was protected`() async {
      await #expect(processExitsWith: .success) {
        demand(FaultVFS.install())
        let disk = FaultDisk(keepsLog: true)
        FaultVFS.begin(on: disk, seed: 1)
        let (path, folder) = (DiskImage.root + "/q", DiskImage.root + "/vault")
        func open(_ queue: String) throws -> QueueFile {
          let vault = DirectoryVault(directory: folder, on: .inMemory, itemBytes: 1_000)
          return try QueueFile(QueueSetup(path: queue, vault: vault, disk: .inMemory), now: noon)
        }
        let queue = try open(path)
        // From this place in the log on, the entry is protected; until that one, it is not settled.
        var protected: [(name: String, from: Int, until: Int)] = []
        for name in ["a", "b", "c"] {
          _ = try queue.enqueue(entry(name, bytes: 1_700), now: noon)
          try demand(queue.entry(key(name))?.isUnprotected == false)
          protected.append((name, disk.log.count, .max))
        }
        protected[1].until = disk.log.count
        try queue.acknowledge([Settlement(key: key("b"))], now: noon)
        var replay = CrashReplay(start: DiskImage(), log: disk.log)
        var random = RandomSource(seed: 1)
        var images = 0
        while !replay.isAtEnd {
          replay.advance()
          for state in CrashState.states(of: replay.pending, cap: 24, random: &random) {
            var image = replay.image(state)
            image.directories.insert(folder)
            // The queue's file goes with the app.
            image.names = image.names.filter { $0.key.hasPrefix(folder) }
            FaultVFS.begin(on: FaultDisk(image), seed: 1)
            let fresh = try open(DiskImage.root + "/fresh")
            for (name, from, until) in protected where replay.position >= from && replay.position <= until {
              let restored = try fresh.entry(key(name))
              demand(restored?.payloads.map(\.isByReference) == [false])
            }
            images += 1
          }
        }
        demand(images > 300)
      }
    }
  #endif
}
