import PurchaseQueue
package import PurchaseSync

/// What the engine remembers on a device, in 44 bytes: moments as milliseconds of the run in 32 bits, which is enough for
/// 49 days. Unpacking what was packed gives the same values, which a test checks.
package struct EngineState: BitwiseCopyable, Sendable {
  /// For a moment that is nil.
  private static var none: UInt32 { .max }

  /// Of the budget.
  private var fullAt: UInt32 = 0
  /// Of the lane's wait.
  private var began = none
  private var length: UInt32 = 0
  private var asked: UInt32 = 0
  /// Of the backend's Retry-After.
  private var askedAt = none
  private var askedFor: UInt32 = 0
  private var pacedAt = none
  private var succeededAt = none
  private var unwellAt = none
  private var failures: UInt16 = 0
  private var pacedSendsLeft: UInt16 = 0
  private var isFailing = false
  private var isEarly = false
  /// Whether the next request is one of a person, which may use the reserve of the budget.
  package var isForPerson = false

  package init() {}

  package var lane: LaneBackoff {
    LaneBackoff(
      failures: Int(failures), wait: Self.wait(.backoff, began, length, asked: asked), isEarly: isEarly)
  }

  package var retry: RetryState {
    RetryState(
      budget: RetryBudget(fullAt: Self.timestamp(Int64(fullAt))),
      pace: BackendPace(
        asked: Self.wait(.asked, askedAt, askedFor), isFailing: isFailing,
        pacedSendsLeft: Int(pacedSendsLeft), pacedAt: Self.moment(pacedAt),
        succeededAt: Self.moment(succeededAt), unwellAt: Self.moment(unwellAt)))
  }

  package mutating func keep(_ lane: LaneBackoff) {
    failures = UInt16(clamping: lane.failures)
    isEarly = lane.isEarly
    began = Self.packed(lane.wait?.began)
    length = UInt32(clamping: lane.wait?.milliseconds ?? 0)
    asked = UInt32(clamping: lane.wait?.asked ?? 0)
  }

  package mutating func keep(_ state: RetryState) {
    fullAt = Self.packed(state.budget.fullAt)
    askedAt = Self.packed(state.pace.asked?.began)
    askedFor = UInt32(clamping: state.pace.asked?.milliseconds ?? 0)
    isFailing = state.pace.isFailing
    pacedSendsLeft = UInt16(clamping: state.pace.pacedSendsLeft)
    pacedAt = Self.packed(state.pace.pacedAt)
    succeededAt = Self.packed(state.pace.succeededAt)
    unwellAt = Self.packed(state.pace.unwellAt)
  }

  /// The run begins at the beginning of the clock.
  static func timestamp(_ milliseconds: Int64) -> Timestamp { Timestamp(milliseconds: milliseconds) }

  static func milliseconds(_ moment: Timestamp) -> Int64 { moment.milliseconds }

  private static func moment(_ packed: UInt32) -> Timestamp? {
    packed == none ? nil : Timestamp(milliseconds: Int64(packed))
  }

  private static func wait(
    _ cause: Wait.Cause, _ began: UInt32, _ length: UInt32, asked: UInt32 = 0
  ) -> Wait? {
    moment(began).map { Wait(cause, began: $0, milliseconds: Int64(length), asked: Int64(asked)) }
  }

  private static func packed(_ moment: Timestamp?) -> UInt32 {
    moment.map { UInt32(clamping: min($0.milliseconds, Int64(none) - 1)) } ?? none
  }
}
