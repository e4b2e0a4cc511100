/// A broken invariant, at the moment when it was seen.
package struct Violation: Sendable, Hashable, Error {
  package var invariant: Invariant
  package var what: String
  /// Which event of the run it was, from 1.
  package var event: Int
  /// Virtual time in milliseconds.
  package var at: Int64
}

/// Counts how often each invariant was looked at and each rare path was taken, and keeps the first violation.
final class Checker {
  private(set) var violation: Violation?
  private(set) var exercised = [Int](repeating: 0, count: Invariant.allCases.count + 1)
  private(set) var marks = [Int](repeating: 0, count: Mark.allCases.count)
  var event = 0
  var now: Int64 = 0
  /// How many transactions the store has made.
  var sales = 0

  func expect(_ invariant: Invariant, _ holds: Bool, _ what: @autoclosure () -> String) {
    exercised[invariant.rawValue] &+= 1
    if !holds { broken(invariant, what()) }
  }

  func broken(_ invariant: Invariant, _ what: String) {
    guard violation == nil else { return }
    violation = Violation(invariant: invariant, what: what, event: event, at: now)
  }

  func mark(_ mark: Mark) { marks[mark.rawValue] &+= 1 }
}
