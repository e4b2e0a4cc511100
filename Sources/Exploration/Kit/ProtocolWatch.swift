import Specification

/// Gives each step of a run to the specification, and keeps the first one that it refuses.
final class ProtocolWatch {
  private var specification = PurchaseProtocol()
  private(set) var steps = 0
  /// Hears of the first refusal: the rule, and the step in words.
  private let refused: (ProtocolRule, String) -> Void
  private var isOver = false

  init(refused: @escaping (ProtocolRule, String) -> Void) { self.refused = refused }

  func take(_ step: ProtocolStep) {
    guard !isOver else { return }
    steps += 1
    do throws(ProtocolRule) {
      try specification.take(step)
    } catch {
      isOver = true
      refused(error, step.sentence)
    }
  }
}
