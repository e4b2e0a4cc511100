import FaultInjection
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync

/// A disk that fails while an image that a crash left is being recovered.
///
/// The opening throws or works. A later recovery without a fault has to give the same state as one without any fault.
struct ImageRecoveryFaults {
  let workload: ImageWorkload
  let site: ImageSite
  let seed: UInt64

  /// Every fault at every place.
  func runAll(_ image: DiskImage, _ state: LogicalState, _ tally: inout ImageTally) {
    for kind in DiskFault.Kind.allCases {
      for lasts in [false, true] {
        var ordinal = 1
        while run(DiskFault(kind, at: ordinal, lasts: lasts), image, state, &tally) { ordinal += 1 }
      }
    }
  }

  /// One that is drawn.
  func runOne(
    _ image: DiskImage, _ state: LogicalState, random: inout RandomSource, _ tally: inout ImageTally
  ) {
    let kind = DiskFault.Kind.allCases[Int(random.next() % 2)]
    let lasts = random.next() & 1 == 1
    let ordinal = 1 + Int(random.next() % 100)
    _ = run(DiskFault(kind, at: ordinal, lasts: lasts), image, state, &tally)
  }

  /// False if nothing failed.
  private func run(
    _ fault: DiskFault, _ image: DiskImage, _ state: LogicalState, _ tally: inout ImageTally
  ) -> Bool {
    let disk = FaultDisk(image, keepsLog: true)
    let later = ImageSite(disk: disk, after: site)
    FaultVFS.begin(on: disk, seed: seed)
    disk.fail(fault)
    var thrown: QueueError?
    do throws(QueueError) {
      try later.open()
    } catch {
      thrown = error
    }
    later.file?.queue.connection.leaveUntouchedOnClose()
    later.close()
    let hasFailed = disk.failures > 0
    disk.fail(nil)
    guard hasFailed else { return false }
    tally.faults += 1
    if thrown != nil { tally.refused += 1 }
    if let what = problem(after: thrown, disk, image, state) {
      let how = "\(fault.kind.rawValue)\(fault.lasts ? "-on" : "")\(fault.ordinal)"
      let cause = thrown.map { "; thrown: \($0)" } ?? ""
      tally.add(
        ImageFailure(
          kind: .fault, what: "while recovering, \(how): \(what)\(cause)", replay: workload.name))
    }
    return true
  }

  private func problem(
    after thrown: QueueError?, _ disk: FaultDisk, _ image: DiskImage, _ state: LogicalState
  ) -> String? {
    if let thrown, let what = ImageFaults.wrong(thrown) { return what }
    var replay = CrashReplay(start: image, log: disk.log)
    replay.advance(to: disk.log.count)
    let judge = ImageJudge(site: site, seed: seed)
    for fate in [CrashState.Fate.kept, .dropped] {
      let left = replay.image(CrashState(all: fate, count: replay.pending.count))
      let name = fate == .kept ? "after a kill" : "after a power cut"
      switch judge.verdict(on: left, known: [state]) {
      case .recovered(let found) where found.essence == state.essence: continue
      case .recovered(let found):
        let tables = LogicalState.differences(found.essence, from: [state.essence])
        return "\(name) another state is recovered: \(tables)"
      case .broken(let what): return "\(name) \(what)"
      }
    }
    return nil
  }
}
