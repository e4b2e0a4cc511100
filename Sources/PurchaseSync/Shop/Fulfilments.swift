/// Decides which outcome the app gets next, and when one comes again whose `fulfil` or confirmation has failed. Without
/// I/O: the shop performs the steps, one at a time.
struct Fulfilments {
  typealias Instant = ContinuousClock.Instant

  /// What the shop does next.
  enum Step: Equatable {
    /// Give the outcome to the app.
    case fulfil(Outcome)
    /// The app has it: tell the engine.
    case confirm(Outcome)
    /// Nothing before this moment.
    case wait(until: Instant)
  }

  /// An outcome that is not confirmed. A later one of the same name takes its place in the line.
  private struct Row {
    var outcome: Outcome
    /// When it was heard.
    var version: Int
    var isFulfilled = false
    var failures = 0
    /// After a failure: why, and the moment of the next attempt.
    var problem: String?
    var due: Instant?
  }

  /// What was confirmed last: a list that was read before names it once more.
  private struct Confirmed {
    var mark: Outcome.Mark
    var version: Int
  }

  private var rows: [Outcome.Name: Row] = [:]
  /// Oldest first.
  private var line: [Outcome.Name] = []
  private var confirmed: [Outcome.Name: Confirmed] = [:]
  private var confirmedLine: [Outcome.Name] = []
  /// Counts the outcomes that were heard.
  private(set) var version = 0

  /// The most confirmed outcomes that are remembered.
  static var memory: Int { 1_024 }
  /// The pauses after failures: doubled each time, within these bounds.
  static var firstPause: Duration { .seconds(1) }
  static var longestPause: Duration { .seconds(300) }

  /// Whether nothing is left to fulfil or to confirm.
  var isEmpty: Bool { rows.isEmpty }

  /// Why the oldest outcome of which `fulfil` has failed is not fulfilled.
  var problem: String? { line.lazy.compactMap { rows[$0]?.problem }.first }

  /// Whether the app has this outcome, and the engine knows.
  func isConfirmed(_ outcome: Outcome) -> Bool { confirmed[outcome.name]?.mark == outcome.mark }

  /// Takes an outcome that the engine tells. One that is known already changes nothing.
  mutating func heard(_ outcome: Outcome) {
    version += 1
    take(outcome)
  }

  /// Takes the outcomes of a list that was read when so many had been heard. Of a purchase of which more was heard
  /// meanwhile, the list is out of date.
  mutating func read(_ outcomes: [Outcome], asOf moment: Int) {
    for outcome in outcomes {
      let (row, past) = (rows[outcome.name]?.version ?? 0, confirmed[outcome.name]?.version ?? 0)
      if max(row, past) <= moment { take(outcome) }
    }
  }

  private mutating func take(_ outcome: Outcome) {
    let name = outcome.name
    if let row = rows[name] {
      if row.outcome.mark != outcome.mark { rows[name] = Row(outcome: outcome, version: version) }
    } else if !isConfirmed(outcome) {
      rows[name] = Row(outcome: outcome, version: version)
      line.append(name)
    }
  }

  /// What has failed is due now.
  mutating func tryAgain() {
    for name in line { rows[name]?.due = nil }
  }

  /// The next step, or nil if nothing is left. One outcome that fails does not hold up the others.
  func next(at now: Instant) -> Step? {
    var earliest: Instant?
    for name in line {
      guard let row = rows[name] else { continue }
      guard let due = row.due, due > now else {
        return row.isFulfilled ? .confirm(row.outcome) : .fulfil(row.outcome)
      }
      earliest = min(earliest ?? due, due)
    }
    return earliest.map { .wait(until: $0) }
  }

  /// `fulfil` has returned for this outcome. If another one took its place meanwhile, that one is still to be fulfilled.
  mutating func fulfilled(_ outcome: Outcome) {
    guard var row = rows[outcome.name], row.outcome.mark == outcome.mark else { return }
    (row.isFulfilled, row.failures, row.problem) = (true, 0, nil)
    rows[outcome.name] = row
  }

  /// The engine has stored that the app has this outcome.
  mutating func confirmed(_ outcome: Outcome) {
    let name = outcome.name
    guard let row = rows[name], row.outcome.mark == outcome.mark else { return }
    rows[name] = nil
    line.removeAll { $0 == name }
    let past = Confirmed(mark: outcome.mark, version: row.version)
    if confirmed.updateValue(past, forKey: name) == nil { confirmedLine.append(name) }
    if confirmedLine.count > Self.memory { confirmed[confirmedLine.removeFirst()] = nil }
  }

  /// `fulfil` has failed for this reason; without a reason, the confirmation.
  mutating func failed(_ outcome: Outcome, _ reason: String?, at now: Instant) {
    guard var row = rows[outcome.name], row.outcome.mark == outcome.mark else { return }
    row.due = now.advanced(by: min(Self.firstPause * (1 << min(row.failures, 16)), Self.longestPause))
    row.failures += 1
    row.problem = reason
    rows[outcome.name] = row
  }
}
