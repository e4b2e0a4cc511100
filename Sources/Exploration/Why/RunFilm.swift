package import PurchaseQueue

/// A run event by event: what happened, and the state of each party after it.
package struct RunFilm: Sendable {
  package struct Frame: Sendable {
    /// 0: before the first event.
    package var event: Int
    /// In milliseconds since the beginning of the run.
    package var at: Int64
    /// What kind of event it is; for an act, which one.
    package var sentence: String
    /// The place of its act; nil for an event that is no act.
    package var act: Int?
    /// What was said in it.
    package var lines: [String]
    package var parties: [PartyState]
  }

  package private(set) var frames: [Frame] = []

  /// Plays the run up to its failure or its end.
  package init(_ make: FailingRun.Maker, keeping places: [Int]?) throws(QueueError) {
    let simulation = try make(places, Trace())
    defer { simulation.remove() }
    var told = 0
    while true {
      let lines = simulation.trace?.lines ?? []
      let happened = simulation.latest
      let act = happened.flatMap { $0.kind == .act ? Int($0.a) : nil }
      frames.append(
        Frame(
          event: simulation.event, at: simulation.now,
          sentence: act.map { simulation.acts[$0].act.sentence } ?? happened?.kind.sentence
            ?? "the beginning",
          act: act, lines: Array(lines[told...]), parties: simulation.parties))
      told = lines.count
      let before = simulation.event
      simulation.run(stopAt: before + 1)
      if simulation.event == before { break }
    }
  }
}
