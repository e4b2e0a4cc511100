import FaultInjection
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync

/// A workload on a disk that fails during its last operation: at each operation of the disk, once or from then on.
///
/// The call throws or works. Afterwards the state is one that the run without a fault goes through, both on the disk as
/// it is and after a power cut. When the fault is gone, the same call works, and so does the next purchase.
struct ImageFaults {
  let workload: ImageWorkload
  let seed: UInt64
  /// Every so many of the operations; 1 for all of them.
  let stride: Int

  private static let faults: [(DiskFault.Kind, lasts: Bool)] = DiskFault.Kind.allCases.flatMap {
    [($0, false), ($0, true)]
  }

  func run(_ tally: inout ImageTally) throws {
    let begun = try beginning()
    let timeline = try essences(of: begun)
    for (kind, lasts) in Self.faults {
      var ordinal = 1 + Int(truncatingIfNeeded: seed % UInt64(stride))
      while true {
        let fault = DiskFault(kind, at: ordinal, lasts: lasts)
        guard try run(fault, begun, timeline, &tally) else { break }
        ordinal += stride
      }
    }
  }

  /// One fault, for `--replay`.
  func run(_ fault: DiskFault, _ tally: inout ImageTally) throws {
    let begun = try beginning()
    _ = try run(fault, begun, try essences(of: begun), &tally)
  }

  /// The number of disk operations that can fail in this way. A fault has one of their numbers, from 1 on.
  func operations(_ kind: DiskFault.Kind) throws -> Int {
    let site = try again(try beginning())
    site.disk.fail(DiskFault(kind, at: .max, lasts: false))
    try site.run(workload.kinds[workload.kinds.count - 1])
    defer { site.close() }
    return site.disk.operations(kind)
  }

  /// The disk before the last operation, and the outside around it.
  private func beginning() throws -> ImageSite {
    let (site, _) = try ImagePreparation.site(
      for: workload.kinds[0], discipline: .production, seed: seed)
    for kind in workload.kinds.dropLast() { try site.run(kind) }
    site.file?.queue.connection.leaveUntouchedOnClose()
    let image = site.disk.image.withoutUnnamedFiles
    site.close()
    return ImageSite(disk: FaultDisk(image), after: site)
  }

  private var isBeginning: Bool { ImageKind.beginnings.contains(workload.kinds.last ?? .enqueue) }

  /// The site on a disk of its own, opened if the last operation is not the opening itself.
  private func again(_ begun: ImageSite, keepsLog: Bool = false) throws -> ImageSite {
    let site = ImageSite(disk: FaultDisk(begun.disk.image, keepsLog: keepsLog), after: begun)
    FaultVFS.begin(on: site.disk, seed: seed)
    if !isBeginning { try site.open() }
    return site
  }

  /// The allowed states: before the last operation, and after each of its commits.
  private func essences(of begun: ImageSite) throws -> Set<[Int64]> {
    let site = try again(begun, keepsLog: true)
    try site.run(workload.kinds[workload.kinds.count - 1])
    let log = site.disk.log
    site.file?.queue.connection.leaveUntouchedOnClose()
    site.close()
    var replay = CrashReplay(start: begun.disk.image, log: log)
    var essences: Set<[Int64]> = []
    var seen: Set<Int> = []
    while true {
      let image = replay.image(CrashState(all: .kept, count: replay.pending.count))
      if seen.insert(replay.fingerprint(of: image)).inserted {
        essences.insert(try essence(of: image, after: begun))
      }
      if replay.isAtEnd { return essences }
      replay.advance()
    }
  }

  private func essence(of image: DiskImage, after begun: ImageSite) throws -> [Int64] {
    let site = ImageSite(disk: FaultDisk(image), after: begun)
    FaultVFS.begin(on: site.disk, seed: seed)
    try site.open()
    guard let file = site.file else { return [] }
    file.queue.connection.leaveUntouchedOnClose()
    return try LogicalState(of: file).essence
  }

  // MARK: One run

  /// False if no operation failed: the call makes fewer of them.
  private func run(
    _ fault: DiskFault, _ begun: ImageSite, _ timeline: Set<[Int64]>, _ tally: inout ImageTally
  ) throws -> Bool {
    let site = try again(begun, keepsLog: true)
    let opened = site.disk.log.count
    let kind = workload.kinds[workload.kinds.count - 1]
    var thrown: QueueError?
    site.disk.fail(fault)
    do throws(QueueError) {
      try site.run(kind)
    } catch {
      thrown = error
    }
    let hasFailed = site.disk.failures > 0
    site.disk.fail(nil)
    guard hasFailed else { return false }
    tally.faults += 1
    if thrown != nil { tally.refused += 1 }
    if let what = try problem(after: thrown, site, begun, timeline, kind, opened) {
      tally.add(
        ImageFailure(
          kind: .fault, what: "\(what)" + (thrown.map { "; thrown: \($0)" } ?? ""),
          replay: "\(workload.name)!\(fault.text)"))
    }
    return true
  }

  private func problem(
    after thrown: QueueError?, _ site: ImageSite, _ begun: ImageSite, _ timeline: Set<[Int64]>,
    _ kind: ImageKind, _ opened: Int
  ) throws -> String? {
    if let thrown, let what = Self.wrong(thrown) { return what }
    var replay = CrashReplay(start: begun.disk.image, log: site.disk.log)
    replay.advance(to: site.disk.log.count)
    for fate in [CrashState.Fate.kept, .dropped] {
      let image = replay.image(CrashState(all: fate, count: replay.pending.count))
      let name = fate == .kept ? "after a kill" : "after a power cut"
      do {
        let found = try essence(of: image, after: site)
        guard timeline.contains(found) else {
          let tables = LogicalState.differences(found, from: timeline)
          return "\(name) the state is neither that before nor that after: \(tables)"
        }
      } catch {
        return "\(name) it cannot be opened: \(error)"
      }
    }
    FaultVFS.begin(on: site.disk, seed: seed)
    return goesOn(site, kind, thrown)
  }

  /// A failing disk must not count as a damaged or a foreign file.
  static func wrong(_ error: QueueError) -> String? {
    switch error {
    case .diskFull, .storage, .cannotOpen, .busy: nil
    default: "the error is not that of a failing disk"
    }
  }

  /// The fault is gone: repeats the call, makes the next purchase, and reads every page.
  private func goesOn(_ site: ImageSite, _ kind: ImageKind, _ thrown: QueueError?) -> String? {
    do {
      if thrown != nil { try site.run(kind) }
      try site.run(.enqueue)
      let paid = Set(site.outside.paid.keys)
      site.close()
      try site.open()
      guard let file = site.file else { return "it is not open" }
      let entries = try file.queue.allEntries()
      guard let newest = site.outside.newest, entries.contains(where: { $0.key == newest }) else {
        return "the next purchase is not there"
      }
      if let ghost = entries.first(where: { !paid.contains($0.key) }) {
        return "invariant 10: \(ghost.key) was never paid"
      }
      let report = try QueueCheck.run(path: ImageSite.path, on: .inMemory)
      return report.isClean ? nil : "the file does not hold what was written: \(report)"
    } catch {
      return "it does not go on: \(error)"
    }
  }
}
