/// Counts how often each invariant was looked at and each rare meeting took place, and keeps the first violation.
final class ShellChecker {
  private(set) var violation: ShellViolation?
  private(set) var exercised = [Int](repeating: 0, count: ShellInvariant.allCases.count)
  private(set) var marks = [Int](repeating: 0, count: ShellMark.allCases.count)
  private static let places: [ShellInvariant: Int] = Dictionary(
    uniqueKeysWithValues: ShellInvariant.allCases.enumerated().map { ($0.element, $0.offset) })
  private unowned let queue: SeededQueue

  init(_ queue: SeededQueue) { self.queue = queue }

  func expect(_ invariant: ShellInvariant, _ holds: Bool, _ what: @autoclosure () -> String) {
    exercised[Self.places[invariant] ?? 0] += 1
    if !holds { broken(invariant, what()) }
  }

  func broken(_ invariant: ShellInvariant, _ what: String) {
    guard violation == nil else { return }
    violation = ShellViolation(invariant: invariant, what: what, job: queue.steps, at: queue.now)
  }

  func mark(_ mark: ShellMark) { marks[mark.rawValue] += 1 }
}
