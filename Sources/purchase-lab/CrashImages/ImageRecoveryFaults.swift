import FaultInjection
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync

/// A disk that fails while an image that a crash left is being recovered.
///
/// The opening throws or works. A later recovery without a fault has to give the same state as one without any fault.
struct ImageRecoveryFaults {
  /// An image that was recovered without a fault.
  struct Sample {
    /// Its workload, place and fates, as `ImageAddress` reads them.
    var address: String
    var image: DiskImage
    var state: LogicalState
    /// True if it is the first one with its file names: an opening finds another situation.
    var isFirstOfItsNames: Bool
  }

  let site: ImageSite
  let seed: UInt64

  /// Every fault at every place.
  func runAll(_ sample: Sample, _ tally: inout ImageTally) {
    for kind in DiskFault.Kind.allCases {
      for lasts in [false, true] {
        var ordinal = 1
        while run(DiskFault(kind, at: ordinal, lasts: lasts), sample, &tally) { ordinal += 1 }
      }
    }
  }

  /// One that is drawn.
  func runOne(_ sample: Sample, random: inout RandomSource, _ tally: inout ImageTally) {
    let kind = DiskFault.Kind.allCases[Int(random.next() % 2)]
    let lasts = random.next() & 1 == 1
    let ordinal = 1 + Int(random.next() % 100)
    _ = run(DiskFault(kind, at: ordinal, lasts: lasts), sample, &tally)
  }

  /// False if nothing failed.
  func run(_ fault: DiskFault, _ sample: Sample, _ tally: inout ImageTally) -> Bool {
    let disk = FaultDisk(sample.image, keepsLog: true)
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
    if let what = problem(after: thrown, disk, sample.image, sample.state) {
      let cause = thrown.map { "; thrown: \($0)" } ?? ""
      tally.add(
        ImageFailure(
          kind: .fault, what: "while recovering, \(what)\(cause)", replay: "\(sample.address)!\(fault.text)"))
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
