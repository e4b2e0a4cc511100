import Testing

@testable import FaultInjection

/// The disks that a power cut can leave, operation by operation.
@Suite struct CrashReplayTests {
  private let path = DiskImage.root + "/file"

  /// The replay of a disk after these operations, at their end.
  private func replay(
    from start: DiskImage = DiskImage(), _ work: (FaultDisk) throws -> Void
  ) rethrows -> CrashReplay {
    let disk = FaultDisk(start, keepsLog: true)
    try work(disk)
    var replay = CrashReplay(start: start, log: disk.log)
    replay.advance(to: disk.log.count)
    return replay
  }

  private func write(_ bytes: [UInt8], to file: Int, at offset: Int = 0, on disk: FaultDisk) {
    disk.perform(.write(file: file, offset: offset, bytes: bytes))
  }

  private func made(_ disk: FaultDisk, _ bytes: [UInt8], isDurable: Bool) -> Int {
    let file = disk.makeFile(path)
    write(bytes, to: file, on: disk)
    if isDurable {
      disk.perform(.sync(file: file))
      disk.perform(.syncDirectory(DiskImage.root))
    }
    return file
  }

  @Test func `a synced write is never lost, an unsynced write may be lost`() {
    let replay = replay { disk in
      let file = made(disk, [1, 2, 3], isDurable: true)
      write([9], to: file, at: 1, on: disk)
    }
    #expect(replay.pending.count == 1)
    #expect(replay.image(CrashState([.dropped]))[path]?.bytes == [1, 2, 3])
    #expect(replay.image(CrashState([.kept]))[path]?.bytes == [1, 9, 3])
  }

  @Test func `a later write may arrive without an earlier one, and leaves a hole of zeros`() {
    let replay = replay { disk in
      let file = made(disk, [], isDurable: true)
      write([1], to: file, at: 0, on: disk)
      write([2], to: file, at: 3, on: disk)
    }
    #expect(replay.image(CrashState([.dropped, .kept]))[path]?.bytes == [0, 0, 0, 2])
  }

  @Test func `a new file has its name only after the directory was synced`() {
    let replay = replay { disk in
      let file = made(disk, [7], isDurable: false)
      disk.perform(.sync(file: file))
    }
    #expect(replay.pending.count == 1)
    #expect(replay.image(CrashState([.dropped]))[path] == nil)
    #expect(replay.image(CrashState([.kept]))[path]?.bytes == [7])
  }

  @Test func `a removed file comes back with its own bytes, even if another file took its name`() {
    let replay = replay { disk in
      _ = made(disk, [1], isDurable: true)
      disk.perform(.unlink(path: path))
      let second = disk.makeFile(path)
      write([2], to: second, on: disk)
      disk.perform(.sync(file: second))
    }
    #expect(replay.pending.count == 2)
    #expect(replay.image(CrashState([.dropped, .dropped]))[path]?.bytes == [1])
    #expect(replay.image(CrashState([.kept, .dropped]))[path] == nil)
    #expect(replay.image(CrashState([.dropped, .kept]))[path]?.bytes == [2])
  }

  @Test func `a file whose rename was lost has its old name`() {
    let target = DiskImage.root + "/target"
    let replay = replay { disk in
      _ = made(disk, [1], isDurable: true)
      disk.perform(.rename(path: path, target: target))
    }
    let (old, new) = (replay.image(CrashState([.dropped])), replay.image(CrashState([.kept])))
    #expect(old[path]?.bytes == [1] && old[target] == nil)
    #expect(new[path] == nil && new[target]?.bytes == [1])
  }

  @Test func `a torn write leaves whole sectors of the old and of the new`() throws {
    let (old, new) = ([UInt8](repeating: 1, count: 2_000), [UInt8](repeating: 2, count: 1_500))
    let replay = replay { disk in
      let file = made(disk, old, isDurable: true)
      write(new, to: file, at: 100, on: disk)
    }
    // The first of its sectors ends at byte 512 of the file.
    let prefix = try #require(replay.image(CrashState([.prefix(1)]))[path]?.bytes)
    let expected = Array(old[..<100]) + Array(new[..<412]) + Array(old[512...])
    #expect(prefix == expected)
    let all = Array(old[..<100]) + new + Array(old[1_600...])
    for seed in UInt32(0)..<20 {
      let mixed = try #require(replay.image(CrashState([.some(seed)]))[path]?.bytes)
      for start in stride(from: 0, to: 2_000, by: 512) {
        let sector = start..<min(start + 512, 2_000)
        #expect(mixed[sector] == old[sector] || mixed[sector] == all[sector])
      }
      let noise = try #require(replay.image(CrashState([.noise(seed)]))[path]?.bytes)
      #expect(noise[..<100] == old[..<100])
      #expect(noise[1_600...] == old[1_600...])
    }
  }

  @Test func `equal images have equal fingerprints, and different images have different ones`() {
    let replay = replay { disk in
      let file = made(disk, [UInt8](repeating: 5, count: 3_000), isDurable: true)
      write([6], to: file, at: 2_500, on: disk)
      write([5], to: file, at: 2_500, on: disk)
      disk.perform(.resize(file: file, size: 4_000))
      disk.perform(.clear(file: file, offset: 4_000, count: 96))
    }
    func fingerprint(_ text: String) -> Int {
      replay.fingerprint(of: replay.image(CrashState(text: text) ?? CrashState([])))
    }
    #expect(fingerprint("----") == fingerprint("++--"))
    #expect(fingerprint("----") == fingerprint("-+--"))
    #expect(Set(["----", "+---", "--+-", "---+"].map(fingerprint)).count == 4)
    // A range that is cut off and written again does not have its old content.
    #expect(fingerprint("--++") == fingerprint("---+"))
  }

  @Test func `with few operations every subset is among the states, within the limit`() {
    let writes = (0..<5).map { DiskOperation.write(file: 1, offset: $0 * 4_096, bytes: [1, 2]) }
    var random = SystemRandomNumberGenerator()
    let states = CrashState.states(of: writes, cap: 100, random: &random)
    let whole = states.filter { $0.fates.allSatisfy { $0 == .kept || $0 == .dropped } }
    #expect(Set(whole).count == 32 && states.count <= 100)
    let many = (0..<40).map { DiskOperation.write(file: 1, offset: $0 * 4_096, bytes: [1, 2]) }
    #expect(CrashState.states(of: many, cap: 100, random: &random).count <= 100)
  }

  @Test func `a state is read back from its text`() {
    let state = CrashState([.kept, .dropped, .prefix(12), .some(7), .noise(0), .kept])
    #expect(state.text == "+-p12s7n0+")
    #expect(CrashState(text: state.text) == state)
    for text in ["x", "p", "+3", "-+s"] { #expect(CrashState(text: text) == nil, "\(text)") }
  }

  @Test func `a disk fails once or from then on, and a full disk fails only operations that need space`() {
    let disk = FaultDisk()
    disk.fail(DiskFault(.ioError, at: 2, lasts: false))
    #expect((0..<4).map { _ in disk.nextFault() } == [nil, .ioError, nil, nil])
    disk.fail(DiskFault(.ioError, at: 3, lasts: true))
    #expect((0..<4).map { _ in disk.nextFault() } == [nil, nil, .ioError, .ioError])
    disk.fail(DiskFault(.full, at: 1, lasts: true))
    #expect([false, true, false, true].map { disk.nextFault(takesSpace: $0) } == [nil, .full, nil, .full])
    #expect(disk.failures == 2 && disk.operations(.full) == 2)
  }
}
