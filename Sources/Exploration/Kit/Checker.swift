import Specification

/// Counts how often a run checks each invariant and takes each rare path, and keeps the first violation.
///
/// A run calls it about sixty times for each purchase. The counters are raw memory: Swift does not check them for
/// exclusive access.
@safe final class Checker<I: Invariant, M: Mark> {
  private(set) var violation: Violation?
  /// Whether only the specification of the protocol judges the run.
  var ignoresInvariants = false
  private let checks: UnsafeMutableBufferPointer<Int>
  private let hits: UnsafeMutableBufferPointer<Int>
  /// The present event and the virtual time, for a violation.
  var moment: () -> (event: Int, at: Int64) = { (0, 0) }
  /// How many transactions the store has made.
  var sales = 0

  init() {
    unsafe checks = .allocate(capacity: I.allCases.count)
    unsafe hits = .allocate(capacity: M.allCases.count)
    unsafe checks.initialize(repeating: 0)
    unsafe hits.initialize(repeating: 0)
  }

  deinit {
    unsafe checks.deallocate()
    unsafe hits.deallocate()
  }

  /// By an invariant's place.
  var exercised: [Int] { unsafe Array(checks) }
  /// By a mark's number.
  var marks: [Int] { unsafe Array(hits) }

  func expect(_ invariant: I, _ holds: Bool, _ what: @autoclosure () -> String) {
    unsafe checks[invariant.place] &+= 1
    if !holds { broken(invariant, what()) }
  }

  func broken(_ invariant: I, _ what: String) {
    guard violation == nil, !ignoresInvariants else { return }
    let (event, at) = moment()
    violation = Violation(
      invariant: invariant.number, sentence: invariant.sentence, what: what, event: event, at: at)
  }

  /// A step that the protocol does not allow.
  func refused(_ rule: ProtocolRule, _ step: String) {
    guard violation == nil else { return }
    let (event, at) = moment()
    violation = Violation(
      invariant: Violation.ofProtocol, sentence: rule.rawValue, what: step, event: event, at: at)
  }

  func mark(_ mark: M) { unsafe hits[mark.rawValue] &+= 1 }
}
