import FaultInjection
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync

/// All images that a crash in the last operation of a workload could leave, each recovered once.
struct ImageSearch {
  let workload: ImageWorkload
  let discipline: ImageDiscipline
  let seed: UInt64
  /// The most states at one place.
  let cap: Int

  private var known: Set<LogicalState> = []
  private var verdicts: [Int: ImageVerdict] = [:]
  /// The state after each commit, as a kill leaves it.
  private var timeline: [LogicalState] = []
  /// The state before the last operation.
  private var earlier: Set<LogicalState> = []
  private var hash = LogHash()
  /// Images that were recovered: the first one with its file names, and every so many of the others.
  private(set) var samples: [ImageRecoveryFaults.Sample] = []
  private var names: Set<Set<String>> = []
  /// The state outside the disk after the workload.
  private(set) var site = ImageSite(disk: FaultDisk())

  init(_ workload: ImageWorkload, _ discipline: ImageDiscipline, seed: UInt64, cap: Int) {
    self.workload = workload
    self.discipline = discipline
    self.seed = seed
    self.cap = cap
  }

  mutating func run() throws -> ImageTally {
    var tally = ImageTally(workload.name, control: discipline)
    let recorded = try ImageRecording(workload, discipline, seed: seed)
    for operation in recorded.log { hash.add(operation) }
    site = recorded.site
    earlier = recorded.earlier
    let judge = ImageJudge(site: site, seed: seed)
    var random = RandomSource(seed: seed ^ hash.value)
    var replay = CrashReplay(start: recorded.start, log: recorded.log)
    replay.advance(to: recorded.begin)
    // A kill here loses nothing: the file holds the state after its last commit.
    try note(killed(replay, judge), at: replay, &tally)
    while !replay.isAtEnd {
      replay.advance()
      try note(killed(replay, judge), at: replay, &tally)
      let isLast = replay.isAtEnd
      let states = CrashState.states(of: replay.pending, cap: cap, random: &random)
      tally.points += 1
      tally.states += states.count
      for state in states {
        let verdict = verdict(on: state, replay, judge, &tally)
        check(verdict, state, replay, &tally) { recorded.mayLeave($0, timeline, isAtEnd: isLast) }
      }
    }
    tally.fingerprint = Int64(bitPattern: hash.value)
    return tally
  }

  private mutating func killed(_ replay: CrashReplay, _ judge: ImageJudge) -> ImageVerdict {
    var ignored = ImageTally("")
    return verdict(
      on: CrashState(all: .kept, count: replay.pending.count), replay, judge, &ignored)
  }

  private mutating func note(_ verdict: ImageVerdict, at replay: CrashReplay, _ tally: inout ImageTally)
    throws
  {
    switch verdict {
    case .recovered(let state):
      if timeline.last != state { timeline.append(state) }
      known.insert(state)
    case .broken(let what):
      let state = CrashState(all: .kept, count: replay.pending.count)
      tally.add(failure(.broken, "after a kill: " + what, state, replay))
      guard !timeline.isEmpty else { throw ImageError.unusable(workload: workload.name, what: what) }
    }
  }

  private mutating func verdict(
    on state: CrashState, _ replay: CrashReplay, _ judge: ImageJudge, _ tally: inout ImageTally
  ) -> ImageVerdict {
    let image = replay.image(state)
    let fingerprint = replay.fingerprint(of: image)
    if let verdict = verdicts[fingerprint] { return verdict }
    let verdict = judge.verdict(on: image, known: known)
    verdicts[fingerprint] = verdict
    tally.images += 1
    if case .recovered(let found) = verdict {
      hash.add(found)
      let isFirst = names.insert(Set(image.names.keys)).inserted
      if isFirst || verdicts.count % Self.sampling == 7 {
        samples.append(
          ImageRecoveryFaults.Sample(
            address: address(of: state, replay), image: image, state: found, isFirstOfItsNames: isFirst))
      }
    }
    return verdict
  }

  private static let sampling = 64

  private func check(
    _ verdict: ImageVerdict, _ state: CrashState, _ replay: CrashReplay, _ tally: inout ImageTally,
    _ mayLeave: (LogicalState) -> Bool
  ) {
    switch verdict {
    case .broken(let what):
      let kind: ImageFailure.Kind = what.hasPrefix("invariant") ? .broken : .corrupt
      tally.add(failure(kind, what, state, replay))
    case .recovered(let found):
      if mayLeave(found) { return }
      if earlier.contains(found) || timeline.contains(found) {
        tally.add(failure(.lost, "invariant 12: a commit that had returned is gone", state, replay))
      } else {
        tally.add(failure(.corrupt, "invariant 12: the file was never in this state", state, replay))
      }
    }
  }

  private func failure(
    _ kind: ImageFailure.Kind, _ what: String, _ state: CrashState, _ replay: CrashReplay
  ) -> ImageFailure {
    ImageFailure(kind: kind, what: what, replay: address(of: state, replay))
  }

  private func address(of state: CrashState, _ replay: CrashReplay) -> String {
    "\(discipline.name(of: workload))@\(replay.position)/\(state.text)"
  }
}

enum ImageError: Error, CustomStringConvertible {
  /// Not even the state before the workload can be recovered.
  case unusable(workload: String, what: String)

  var description: String {
    switch self {
    case .unusable(let workload, let what): "\(workload) cannot be begun: \(what)"
    }
  }
}
