import FaultInjection
import PurchaseQueue

/// `crash-images --replay`: one image, or one run with a fault, shown with what leads to it.
///
/// An image's address is `WORKLOAD@PLACE/FATES` (`CrashState`), with a control before a colon; a fault's is
/// `WORKLOAD!KIND` and the number of the operation that fails, with `-on` if all behind it fail too.
struct ImageReplay {
  let address: String
  let seed: UInt64

  func execute() -> Int32 {
    guard FaultVFS.install() else {
      Terminal.error("purchase-simulator: SQLite does not take the disk in memory")
      return ExitCode.internal
    }
    do {
      if let fault = Self.fault(address) { return try show(fault.workload, fault.fault) }
      guard let (workload, discipline, place, state) = Self.image(address) else {
        Terminal.error("purchase-simulator: --replay takes what crash-images prints, not '\(address)'")
        return ExitCode.usage
      }
      return try show(workload, discipline, place, state)
    } catch {
      Terminal.error("purchase-simulator: \(address) could not be run: \(error)")
      return ExitCode.internal
    }
  }

  private static func image(_ text: String) -> (ImageWorkload, ImageDiscipline, Int, CrashState)? {
    let parts = text.split(separator: "@", maxSplits: 1)
    guard parts.count == 2, let (workload, discipline) = CrashImagesWorker.address(String(parts[0])) else {
      return nil
    }
    let rest = parts[1].split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard rest.count == 2, let place = Int(rest[0]), let state = CrashState(text: String(rest[1])) else {
      return nil
    }
    return (workload, discipline, place, state)
  }

  private static func fault(_ text: String) -> (workload: ImageWorkload, fault: DiskFault)? {
    let parts = text.split(separator: "!", maxSplits: 1)
    guard parts.count == 2, let workload = ImageWorkload(name: String(parts[0])) else { return nil }
    for kind in DiskFault.Kind.allCases {
      for (mark, lasts) in [("-on", true), ("", false)] {
        let prefix = kind.rawValue + mark
        guard parts[1].hasPrefix(prefix), let ordinal = Int(parts[1].dropFirst(prefix.count)) else {
          continue
        }
        return (workload, DiskFault(kind, at: ordinal, lasts: lasts))
      }
    }
    return nil
  }

  private func show(_ workload: ImageWorkload, _ fault: DiskFault) throws -> Int32 {
    var tally = ImageTally(workload.name)
    try ImageFaults(workload: workload, seed: seed, stride: 1).run(fault, &tally)
    for failure in tally.failures { Terminal.line(failure.what) }
    if tally.failures.isEmpty { Terminal.line("nothing is wrong") }
    return tally.failures.isEmpty ? ExitCode.ok : ExitCode.promiseBroken
  }

  private func show(
    _ workload: ImageWorkload, _ discipline: ImageDiscipline, _ place: Int, _ state: CrashState
  ) throws -> Int32 {
    let recorded = try ImageRecording(workload, discipline, seed: seed)
    let judge = ImageJudge(site: recorded.site, seed: seed)
    var replay = CrashReplay(start: recorded.start, log: recorded.log)
    var timeline: [LogicalState] = []
    var returned = 0
    func note() {
      let kept = CrashState(all: .kept, count: replay.pending.count)
      guard case .recovered(let state) = judge.verdict(on: replay.image(kept), known: []) else { return }
      if timeline.last != state { timeline.append(state) }
    }
    replay.advance(to: recorded.begin)
    note()
    while replay.position < min(place, recorded.log.count) {
      replay.advance()
      Terminal.line("\(replay.position)  \(recorded.log[replay.position - 1].summary)")
      note()
    }
    if replay.isAtEnd { returned = timeline.count - 1 }
    Terminal.line("then the power fails\(replay.isAtEnd ? ", after the call has returned" : "")")
    for (operation, fate) in zip(replay.pending, state.fates) {
      Terminal.line("  \(CrashState([fate]).text)  \(operation.summary)")
    }
    let image = replay.image(state)
    for (path, number) in image.names.sorted(by: { $0.key < $1.key }) {
      Terminal.line("  left: \(path), #\(number), \(image.files[number]?.size ?? 0) bytes")
    }
    switch judge.verdict(on: image, known: []) {
    case .broken(let what):
      Terminal.line(what)
    case .recovered(let found):
      if let index = timeline.lastIndex(of: found) {
        Terminal.line(index >= returned ? "nothing is wrong" : "a commit that had returned is gone")
        return index >= returned ? ExitCode.ok : ExitCode.promiseBroken
      }
      if recorded.earlier.contains(found) {
        Terminal.line("a commit that had returned is gone")
        return ExitCode.promiseBroken
      }
      let tables = LogicalState.differences(found.essence, from: Set(timeline.map(\.essence)))
      Terminal.line("what is there never was: \(tables)")
    }
    return ExitCode.promiseBroken
  }
}
