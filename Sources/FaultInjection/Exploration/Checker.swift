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
///
/// It is asked some sixty times for each purchase: the counts are memory of their own, which costs no check of who else
/// is just using it.
@safe final class Checker {
  private(set) var violation: Violation?
  private let looks: UnsafeMutableBufferPointer<Int>
  private let hits: UnsafeMutableBufferPointer<Int>
  var event = 0
  var now: Int64 = 0
  /// How many transactions the store has made.
  var sales = 0

  init() {
    unsafe looks = .allocate(capacity: Invariant.allCases.count + 1)
    unsafe hits = .allocate(capacity: Mark.allCases.count)
    unsafe looks.initialize(repeating: 0)
    unsafe hits.initialize(repeating: 0)
  }

  deinit {
    unsafe looks.deallocate()
    unsafe hits.deallocate()
  }

  var exercised: [Int] { unsafe Array(looks) }
  var marks: [Int] { unsafe Array(hits) }

  func expect(_ invariant: Invariant, _ holds: Bool, _ what: @autoclosure () -> String) {
    unsafe looks[invariant.rawValue] &+= 1
    if !holds { broken(invariant, what()) }
  }

  func broken(_ invariant: Invariant, _ what: String) {
    guard violation == nil else { return }
    violation = Violation(invariant: invariant, what: what, event: event, at: now)
  }

  func mark(_ mark: Mark) { unsafe hits[mark.rawValue] &+= 1 }
}
