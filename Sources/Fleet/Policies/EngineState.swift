package import PurchaseQueue
package import PurchaseSync

/// What the engine remembers on a device, in 56 bytes: moments as milliseconds of the run in 32 bits, which is enough for
/// 49 days. Unpacking what was packed gives the same values, which a test checks.
package struct EngineState: BitwiseCopyable, Sendable {
  /// For a moment that is nil.
  private static var none: UInt32 { .max }

  // In halves, so that the whole is aligned to 4 bytes.
  private var retries = Halves()
  private var persons = Halves()
  private var slotBegan: UInt32 = 0
  private var due = none
  private var laneNotBefore = none
  private var notBefore = none
  private var pacedAt = none
  private var succeededAt = none
  /// Of the oldest entry: since when it fails, and until when it is postponed.
  private var failingSince = none
  private var readyAt: UInt32 = 0
  private var failures: UInt16 = 0
  private var pacedSendsLeft: UInt16 = 0
  private var failedRounds: UInt8 = 0
  private var isFailing = false
  /// Whether an entry is queued, and whether another one is behind it.
  package var hasHead = false
  package var hasBehind = false
  /// Whether the next request is one of a person, which may use the reserve of the budget.
  package var isForPerson = false

  package init() {}

  package var lane: LaneBackoff {
    LaneBackoff(failures: Int(failures), due: Self.moment(due), notBefore: Self.moment(laneNotBefore))
  }

  package var retry: RetryState {
    RetryState(
      budget: RetryBudget(
        slotBegan: Self.timestamp(Int64(slotBegan)), retries: retries.whole, persons: persons.whole),
      pace: BackendPace(
        notBefore: Self.moment(notBefore), isFailing: isFailing, pacedSendsLeft: Int(pacedSendsLeft),
        pacedAt: Self.moment(pacedAt), succeededAt: Self.moment(succeededAt)))
  }

  /// The watch over the oldest entry.
  package var watch: PoisonWatch {
    PoisonWatch(failedRounds: Int(failedRounds), failingSince: Self.moment(failingSince), unknownAnswers: 0)
  }

  package mutating func keep(_ watch: PoisonWatch) {
    failedRounds = UInt8(clamping: watch.failedRounds)
    failingSince = Self.packed(watch.failingSince)
  }

  /// The oldest entry is not sent before this moment; others pass it.
  package var ready: Timestamp {
    get { Timestamp(milliseconds: Int64(readyAt)) }
    set { readyAt = Self.packed(newValue) }
  }

  package mutating func keep(_ lane: LaneBackoff) {
    failures = UInt16(clamping: lane.failures)
    due = Self.packed(lane.due)
    laneNotBefore = Self.packed(lane.notBefore)
  }

  package mutating func keep(_ state: RetryState) {
    (retries, persons) = (Halves(state.budget.retries), Halves(state.budget.persons))
    slotBegan = Self.packed(state.budget.slotBegan)
    notBefore = Self.packed(state.pace.notBefore)
    isFailing = state.pace.isFailing
    pacedSendsLeft = UInt16(clamping: state.pace.pacedSendsLeft)
    pacedAt = Self.packed(state.pace.pacedAt)
    succeededAt = Self.packed(state.pace.succeededAt)
  }

  /// The run begins at the beginning of the clock.
  static func timestamp(_ milliseconds: Int64) -> Timestamp { Timestamp(milliseconds: milliseconds) }

  static func milliseconds(_ moment: Timestamp) -> Int64 { moment.milliseconds }

  private static func moment(_ packed: UInt32) -> Timestamp? {
    packed == none ? nil : Timestamp(milliseconds: Int64(packed))
  }

  private static func packed(_ moment: Timestamp?) -> UInt32 {
    moment.map { UInt32(clamping: min($0.milliseconds, Int64(none) - 1)) } ?? none
  }
}

/// 64 bits that are aligned as 32.
private struct Halves: BitwiseCopyable {
  private var high: UInt32 = 0
  private var low: UInt32 = 0

  init(_ whole: Int64 = 0) {
    high = UInt32(truncatingIfNeeded: whole >> 32)
    low = UInt32(truncatingIfNeeded: whole)
  }

  var whole: Int64 { Int64(Int32(bitPattern: high)) << 32 | Int64(low) }
}
