import CommandLineTools
import FaultInjection
import PurchaseQueue

/// `crash-images --replay`: one image, or one run with a fault, shown with what leads to it.
struct ImageReplay {
  let address: ImageAddress
  let seed: UInt64

  func execute() -> Int32 {
    guard FaultVFS.install() else {
      Terminal.complain("SQLite does not take the disk in memory")
      return ExitCode.internal
    }
    do {
      switch address {
      case .fault(let workload, let fault): return try show(workload, fault)
      case .image(let workload, let discipline, let place, let state):
        return try show(workload, discipline, place, state)
      case .recovery(let workload, let place, let state, let fault):
        return try show(workload, place, state, fault)
      }
    } catch let error as UsageError {
      return error.tell()
    } catch {
      Terminal.complain("the replay failed: \(error)")
      return ExitCode.internal
    }
  }

  private func nothing(_ message: String) -> UsageError {
    UsageError(message: message, command: "crash-images")
  }

  private func show(_ workload: ImageWorkload, _ fault: DiskFault) throws -> Int32 {
    var tally = ImageTally(workload.name)
    let faults = ImageFaults(workload: workload, seed: seed, stride: 1)
    let count = try faults.operations(fault.kind)
    guard fault.ordinal >= 1, fault.ordinal <= count else {
      let (name, operations) = ("\(workload.name)!\(fault.kind.rawValue)", Counted.text(count, "operation"))
      throw nothing("there is no fault \(fault.ordinal) of \(name): \(operations) of it can fail so")
    }
    try faults.run(fault, &tally)
    return status(of: tally)
  }

  /// The exit code, after the failures are shown.
  private func status(of tally: ImageTally) -> Int32 {
    for failure in tally.failures { Terminal.line(failure.what) }
    if tally.failures.isEmpty { Terminal.line("nothing is wrong") }
    return tally.failures.isEmpty ? ExitCode.ok : ExitCode.promiseBroken
  }

  private func show(
    _ workload: ImageWorkload, _ place: Int, _ state: CrashState, _ fault: DiskFault
  ) throws -> Int32 {
    let recorded = try ImageRecording(workload, .production, seed: seed)
    try check(place, state, of: recorded, workload.name)
    var replay = CrashReplay(start: recorded.start, log: recorded.log)
    replay.advance(to: place)
    let image = replay.image(state)
    switch ImageJudge(site: recorded.site, seed: seed).verdict(on: image, known: []) {
    case .broken(let what):
      Terminal.line("without the fault: \(what)")
      return ExitCode.promiseBroken
    case .recovered(let found):
      var tally = ImageTally(workload.name)
      let faults = ImageRecoveryFaults(site: recorded.site, seed: seed)
      let sample = ImageRecoveryFaults.Sample(
        address: workload.name, image: image, state: found, isFirstOfItsNames: false)
      guard faults.run(fault, sample, &tally) else {
        throw nothing("the recovery ends before operation \(fault.ordinal) that can fail so")
      }
      return status(of: tally)
    }
  }

  /// Another seed or another version has other places, and other operations that are not durable there.
  private func check(
    _ place: Int, _ state: CrashState, of recorded: ImageRecording, _ name: String
  ) throws(UsageError) {
    let places = recorded.begin...recorded.log.count
    guard places.contains(place) else {
      throw nothing(
        "there is no place \(place) in \(name): it has \(places.lowerBound) to \(places.upperBound)")
    }
    var replay = CrashReplay(start: recorded.start, log: recorded.log)
    replay.advance(to: place)
    let (pending, fates) = (replay.pending.count, state.fates.count)
    guard fates == pending else {
      throw nothing(
        "at place \(place) of \(name) the power can take \(Counted.text(pending, "operation")): behind "
          + "the slash each has its fate, and there are \(fates)")
    }
  }

  private func show(
    _ workload: ImageWorkload, _ discipline: ImageDiscipline, _ place: Int, _ state: CrashState
  ) throws -> Int32 {
    let recorded = try ImageRecording(workload, discipline, seed: seed)
    try check(place, state, of: recorded, discipline.name(of: workload))
    let judge = ImageJudge(site: recorded.site, seed: seed)
    var replay = CrashReplay(start: recorded.start, log: recorded.log)
    var timeline: [LogicalState] = []
    func note() {
      let kept = CrashState(all: .kept, count: replay.pending.count)
      guard case .recovered(let state) = judge.verdict(on: replay.image(kept), known: []) else { return }
      if timeline.last != state { timeline.append(state) }
    }
    replay.advance(to: recorded.begin)
    note()
    while replay.position < place {
      replay.advance()
      Terminal.line("\(replay.position)  \(recorded.log[replay.position - 1].summary)")
      note()
    }
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
      if recorded.mayLeave(found, timeline, isAtEnd: replay.isAtEnd) {
        Terminal.line("nothing is wrong")
        return ExitCode.ok
      }
      if recorded.earlier.contains(found) || timeline.contains(found) {
        Terminal.line("a commit that had returned is gone")
        return ExitCode.promiseBroken
      }
      let tables = LogicalState.differences(found.essence, from: Set(timeline.map(\.essence)))
      Terminal.line("the file was never in this state: \(tables)")
    }
    return ExitCode.promiseBroken
  }
}
