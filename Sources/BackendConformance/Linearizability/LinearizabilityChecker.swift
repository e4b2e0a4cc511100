import PurchaseSyncTesting

/// Decides whether an order of the calls exists that keeps their order in time and fits the model.
///
/// The search of Wing and Gong ("Testing and Verifying Concurrent Objects", 1993): it takes a call that could be next,
/// and goes back if no call can. It remembers which calls with which state led nowhere, as Lowe does ("Testing for
/// linearizability", 2017). A history of several objects is linearizable if the history of each object is (Herlihy and
/// Wing 1990), so a caller partitions by object first, and each search is short.
package struct LinearizabilityChecker<Model: SequentialModel> {
  package typealias Call = HistoryCall<Model>

  private struct Position: Hashable {
    /// The answered calls that took effect.
    var taken: CallSet
    /// How many of the unanswered calls of each input took effect.
    var effects: [Int]
    var state: Model.State
  }

  private struct Frame {
    var position: Position
    /// The positions to try from here, the likeliest last.
    var next: [Position]
  }

  /// The answered calls by their begin.
  private let answered: [Call]
  /// The begins of the unanswered calls, by input. Two with the same input differ in their begin only, so the earliest
  /// of them takes effect first.
  private let unanswered: [(input: Model.Input, begins: [Int])]

  package init(_ history: [Call]) {
    answered = history.filter { $0.output != nil }.sorted { $0.beganAt < $1.beganAt }
    var begins: [Model.Input: [Int]] = [:]
    var inputs: [Model.Input] = []
    for call in history where call.output == nil {
      if begins[call.input] == nil { inputs.append(call.input) }
      begins[call.input, default: []].append(call.beganAt)
    }
    unanswered = inputs.map { ($0, (begins[$0] ?? []).sorted()) }
  }

  /// Whether the history can be.
  package var isLinearizable: Bool {
    let start = Position(
      taken: CallSet(), effects: Array(repeating: 0, count: unanswered.count), state: Model.initial)
    if start.taken.base == answered.count { return true }
    var known: Set<Position> = [start]
    var frames = [Frame(position: start, next: successors(of: start))]
    while var frame = frames.popLast() {
      guard let position = frame.next.popLast() else { continue }
      frames.append(frame)
      if position.taken.base == answered.count { return true }
      guard known.insert(position).inserted else { continue }
      frames.append(Frame(position: position, next: successors(of: position)))
    }
    return false
  }

  /// The positions after one more call. An answered call that began first is the last of the list.
  private func successors(of position: Position) -> [Position] {
    var found: [Position] = []
    let deadline = deadline(of: position)
    for (index, group) in unanswered.enumerated() {
      let used = position.effects[index]
      guard used < group.begins.count, group.begins[used] < deadline,
        let state = Model.step(position.state, group.input, nil), state != position.state
      else { continue }
      var next = position
      next.effects[index] += 1
      next.state = state
      found.append(next)
    }
    var taken: [Position] = []
    for index in position.taken.base..<answered.count {
      let call = answered[index]
      guard call.beganAt < deadline else { break }
      guard !position.taken.contains(index), let state = Model.step(position.state, call.input, call.output)
      else { continue }
      var next = position
      next.taken.insert(index)
      // A call that changes nothing can come first in each order of the others: no other try is needed.
      if state == position.state { return [next] }
      next.state = state
      taken.append(next)
    }
    return found + taken.reversed()
  }

  /// The earliest answer among the calls that have not taken effect: what began later comes later.
  private func deadline(of position: Position) -> Int {
    var deadline = Int.max
    for index in position.taken.base..<answered.count {
      guard answered[index].beganAt < deadline else { break }
      if !position.taken.contains(index) { deadline = min(deadline, answered[index].answeredAt) }
    }
    return deadline
  }
}
