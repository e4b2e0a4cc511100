/// Why a run failed: the acts that it needs, how likely the failure was after each event, and the run itself.
package struct FailureExplanation {
  package struct ExplainedAct: Sendable {
    package var place: Int
    package var at: Int64
    package var sentence: String
    /// Without it the run does not fail in this way.
    package var matters: Bool
  }

  /// How likely the failure was, with the code that failed or with the right one.
  package struct Curve: Sendable {
    package var code: FailingRun.Code
    package var shares: FutureShares
  }

  package let run: FailingRun
  /// Up to the failure.
  package let acts: [ExplainedAct]
  /// The first names the event.
  package let curves: [Curve]
  package let film: RunFilm
  /// How many runs the shrinking took.
  package let runs: Int

  package var violation: Violation { run.violation }
  package var places: [Int] { run.places ?? [] }
  package var jump: FutureShares.Jump { curves[0].shares.jump }

  /// Nil if the run does not fail.
  /// - Parameters:
  ///   - places: The acts that happen; nil for all.
  ///   - codes: The first names the event.
  package init?(
    keeping places: [Int]?, seed: UInt64, codes: [FailingRun.Code], make: @escaping FailingRun.Maker
  ) throws {
    guard let whole = try FailingRun(keeping: places, seed: seed, make: make) else { return nil }
    let planned = try whole.plannedActs()
    let shrinking = try Shrinking(planned, among: places, whole.violation) { try whole.result(keeping: $0) }
    guard let small = try FailingRun(keeping: shrinking.places, seed: seed, make: make) else { return nil }
    run = small
    runs = shrinking.runs
    let kept = Set(shrinking.places)
    acts = (places ?? Array(planned.indices)).filter { planned[$0].at <= whole.violation.at }.map {
      ExplainedAct(
        place: $0, at: planned[$0].at, sentence: planned[$0].act.sentence, matters: kept.contains($0))
    }
    curves = try codes.map { Curve(code: $0, shares: try small.shares($0)) }
    film = try RunFilm(make, keeping: shrinking.places)
  }
}
