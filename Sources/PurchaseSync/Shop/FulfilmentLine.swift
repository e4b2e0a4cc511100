import PurchaseQueue

/// Decides which outcome the app gets next, and when one comes again whose `fulfil` or confirmation has failed. Without
/// I/O: the shop performs the steps.
///
/// ```
/// received ──▶ fulfilling ──it returns──▶ fulfilled ──▶ confirming ──stored──▶ confirmed
///    ▲             │ it throws                ▲             │ the file fails
///    └── a pause ──┘                          └── a pause ──┘
/// ```
///
/// A later outcome of the same name takes the place of the earlier one, in each state, and is received.
///
/// The calls of `fulfil` come one at a time, so that an app's wallet needs no lock, as long as each returns within the time
/// limit. A call that does not is *late*: it keeps its own key waiting until it returns, and no other. While one is late,
/// some others go side by side.
package struct FulfilmentLine {
  package typealias Instant = ContinuousClock.Instant

  /// What the shop does next.
  package enum Step: Equatable {
    /// Give the outcome to the app.
    case fulfil(Outcome)
    /// The app has it: confirm it.
    case confirm(Outcome)
    /// Nothing before this moment.
    case wait(until: Instant)
  }

  /// An outcome that is not confirmed. A later one of the same name takes its place in the line.
  private struct Row {
    var outcome: Outcome
    /// When it was received.
    var version: Int
    var isFulfilled = false
    var failures = 0
    /// After a failure: why, when, and the moment of the next attempt.
    var problem: String?
    var failedAt: Instant?
    var due: Instant?
  }

  /// A step that is under way.
  private struct Call {
    var number: FulfilCall
    var began: Instant
    var isFulfilling: Bool
    var key: EntryKey
  }

  /// Identifies a call of `fulfil`, or a confirmation.
  package typealias FulfilCall = Int

  /// What was confirmed last: a list that was read before names it once more.
  private struct Confirmed {
    var mark: Outcome.Mark
    var version: Int
  }

  /// How long one call of `fulfil` may take before others go on without it.
  let limit: Duration
  private var rows: [Outcome.Name: Row] = [:]
  /// Oldest first.
  private var line: [Outcome.Name] = []
  private var calls: [Outcome.Name: Call] = [:]
  private var begun = 0
  /// What was fulfilled since each restore began.
  private var restores: [Int: [Outcome]] = [:]
  private var confirmed: [Outcome.Name: Confirmed] = [:]
  private var confirmedLine: [Outcome.Name] = []
  private var retries = CallPace.fulfilmentRetries
  /// Calls of `fulfil` for outcomes of which it has failed, all together, until one succeeds.
  private var repeats = CallPace.repeatedFulfilments
  private var start: Instant?
  /// Counts the outcomes that were received.
  private(set) var version = 0

  package init(limit: Duration = .seconds(10)) { self.limit = limit }

  /// The most confirmed outcomes that are remembered.
  static var memory: Int { 1_024 }
  /// The pauses after failures: doubled each time, within these bounds.
  static var firstPause: Duration { .seconds(1) }
  static var longestPause: Duration { .seconds(300) }
  /// The most calls side by side, those not counted that are late.
  static var sideBySide: Int { 8 }

  /// Whether nothing is left to fulfil or to confirm.
  package var isEmpty: Bool { rows.isEmpty }

  /// Why the oldest outcome of which `fulfil` has failed is not fulfilled.
  var problem: String? { line.lazy.compactMap { rows[$0]?.problem }.first }

  /// Whether the app has this outcome, and the engine knows.
  func isConfirmed(_ outcome: Outcome) -> Bool { confirmed[outcome.name]?.mark == outcome.mark }

  /// Whether something is done now that is expected to end soon.
  func isBusy(at now: Instant) -> Bool {
    if calls.values.contains(where: { !isLate($0, at: now) }) { return true }
    switch next(at: now) {
    case .fulfil, .confirm: return true
    case .wait, nil: return false
    }
  }

  /// The calls of `fulfil` that have not returned in time: whose, and since when.
  func late(at now: Instant) -> [(key: EntryKey, since: Instant)] {
    calls.values.filter { isLate($0, at: now) }.map { ($0.key, $0.began) }.sorted { $0.since < $1.since }
  }

  /// Whether this call of `fulfil` has not returned.
  func isUnderWay(_ call: FulfilCall) -> Bool {
    calls.values.contains { $0.isFulfilling && $0.number == call }
  }

  private func isLate(_ call: Call, at now: Instant) -> Bool {
    call.isFulfilling && call.began + limit <= now
  }

  // MARK: Outcomes

  /// Takes an outcome that the engine has published. One that is known already changes nothing.
  package mutating func received(_ outcome: Outcome) {
    version += 1
    take(outcome)
  }

  /// Merges a snapshot that was taken at `version`. Outcomes that have changed since are skipped.
  mutating func merge(_ snapshot: [Outcome], takenAt version: Int) {
    for outcome in snapshot {
      let (row, past) = (rows[outcome.name]?.version ?? 0, confirmed[outcome.name]?.version ?? 0)
      if max(row, past) <= version { take(outcome) }
    }
  }

  private mutating func take(_ outcome: Outcome) {
    let name = outcome.name
    if let row = rows[name] {
      guard row.outcome.mark != outcome.mark else { return }
      var newer = Row(outcome: outcome, version: version)
      // A failing `fulfil` fails at this one too, most likely: it keeps the pause.
      (newer.failures, newer.problem) = (row.failures, row.problem)
      (newer.failedAt, newer.due) = (row.failedAt, row.due)
      rows[name] = newer
    } else if !isConfirmed(outcome) {
      rows[name] = Row(outcome: outcome, version: version)
      line.append(name)
    }
  }

  /// What has failed is tried again: now, or a second after it failed. Beyond the pace of such requests, a little later.
  mutating func tryAgain(at now: Instant) {
    let moment = paceMoment(at: now)
    let from = now.advanced(by: .milliseconds(retries.wait(at: moment)))
    var isSooner = false
    for name in line {
      guard let row = rows[name], let due = row.due, let failedAt = row.failedAt else { continue }
      let soon = max(from, failedAt.advanced(by: Self.firstPause))
      guard soon < due else { continue }
      rows[name]?.due = soon
      isSooner = true
    }
    if isSooner { _ = retries.takes(at: moment) }
  }

  /// Milliseconds since the first failure or request.
  private func milliseconds(at now: Instant) -> Int64 { start?.duration(to: now).wholeMilliseconds ?? 0 }

  /// The same; the paces count from the first call on.
  private mutating func paceMoment(at now: Instant) -> Int64 {
    start = start ?? now
    return milliseconds(at: now)
  }

  // MARK: Steps

  /// The next step; nil if nothing is left that time alone brings. One outcome that fails, or whose call is late, does not
  /// hold up the others: first calls come before repeated ones, and of these the one that waits longest.
  package func next(at now: Instant) -> Step? {
    let running = calls.values.filter { $0.isFulfilling && !isLate($0, at: now) }
    let isAnyLate = calls.values.contains { isLate($0, at: now) }
    let hasPlace = running.count < (isAnyLate ? Self.sideBySide : 1)
    // A call that becomes late makes place for others.
    var earliest = running.map { $0.began + limit }.min()
    var repeated: (outcome: Outcome, due: Instant)?
    let busy = calls.values.map(\.key)
    for name in line {
      guard let row = rows[name], !busy.contains(row.outcome.key) else { continue }
      if let due = row.due, due > now {
        earliest = min(earliest ?? due, due)
      } else if row.isFulfilled {
        return .confirm(row.outcome)
      } else if hasPlace {
        guard let due = row.due else { return .fulfil(row.outcome) }
        if due < repeated?.due ?? now.advanced(by: .seconds(1)) { repeated = (row.outcome, due) }
      }
    }
    if let repeated {
      let pause = repeats.wait(at: milliseconds(at: now))
      if pause == 0 { return .fulfil(repeated.outcome) }
      let due = now.advanced(by: .milliseconds(pause))
      earliest = min(earliest ?? due, due)
    }
    return earliest.map { .wait(until: $0) }
  }

  /// A call of `fulfil`, or else a confirmation, begins. No other step of its transaction begins before it has ended.
  @discardableResult
  package mutating func begin(_ outcome: Outcome, isFulfilling: Bool, at now: Instant) -> FulfilCall {
    begun += 1
    calls[outcome.name] = Call(number: begun, began: now, isFulfilling: isFulfilling, key: outcome.key)
    let moment = paceMoment(at: now)
    if isFulfilling, let row = rows[outcome.name], row.failures > 0 { _ = repeats.takes(at: moment) }
    return begun
  }

  /// `fulfil` has returned for this outcome. If another one took its place in between, that one is still to be
  /// fulfilled.
  package mutating func fulfilled(_ outcome: Outcome) {
    calls[outcome.name] = nil
    repeats = .repeatedFulfilments
    for number in restores.keys { restores[number]?.append(outcome) }
    guard var row = rows[outcome.name], row.outcome.mark == outcome.mark else { return }
    row.isFulfilled = true
    (row.failures, row.problem, row.failedAt, row.due) = (0, nil, nil, nil)
    rows[outcome.name] = row
  }

  /// The engine has stored that the app has this outcome.
  package mutating func confirmed(_ outcome: Outcome) {
    let name = outcome.name
    calls[name] = nil
    guard let row = rows[name], row.outcome.mark == outcome.mark else { return }
    rows[name] = nil
    line.removeAll { $0 == name }
    let past = Confirmed(mark: outcome.mark, version: row.version)
    if confirmed.updateValue(past, forKey: name) == nil { confirmedLine.append(name) }
    if confirmedLine.count > Self.memory { confirmed[confirmedLine.removeFirst()] = nil }
  }

  /// `fulfil` has failed for this reason; without a reason, the confirmation.
  package mutating func failed(_ outcome: Outcome, _ reason: String?, at now: Instant) {
    calls[outcome.name] = nil
    guard var row = rows[outcome.name], row.outcome.mark == outcome.mark else { return }
    row.due = now.advanced(by: min(Self.firstPause * (1 << min(row.failures, 16)), Self.longestPause))
    row.failedAt = now
    row.failures += 1
    row.problem = reason
    rows[outcome.name] = row
  }

  // MARK: Restores

  mutating func beginRestore() -> Int {
    begun += 1
    restores[begun] = []
    return begun
  }

  /// What was fulfilled during a restore, which ends.
  mutating func endRestore(_ number: Int) -> [Outcome] { restores.removeValue(forKey: number) ?? [] }
}
