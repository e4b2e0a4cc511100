import PurchaseSyncTesting

/// The fewest answers of a history that cannot be together, whatever the other calls were answered.
package struct ShortestPart<Model: SequentialModel> {
  package typealias Call = HistoryCall<Model>

  /// The calls with these answers, by their begin.
  package let calls: [Call]
  /// Whether no fewer answers contradict each other; false if the search for fewer was too long.
  package let isShortest: Bool

  /// How many histories are checked in the search for fewer answers.
  private static var budget: Int { 20_000 }

  /// Nil if the history can be.
  package init?(of history: [Call]) {
    guard !LinearizabilityChecker(history).isLinearizable else { return nil }
    let answered = history.indices.filter { history[$0].output != nil }
    let reduced = Self.reduced(
      answered.sorted { history[$0].answeredAt < history[$1].answeredAt }, of: history)
    var checks = 0
    for count in 1..<max(1, reduced.count) {
      var found: [Int]?
      let isComplete = Self.visit(count, of: answered) { part in
        checks += 1
        if Self.isContradiction(part, of: history) { found = part }
        return found == nil && checks < Self.budget
      }
      if let found {
        self.init(found, of: history, isShortest: true)
        return
      }
      guard isComplete else {
        self.init(reduced, of: history, isShortest: false)
        return
      }
    }
    self.init(reduced, of: history, isShortest: true)
  }

  private init(_ part: [Int], of history: [Call], isShortest: Bool) {
    calls = part.map { history[$0] }.sorted { $0.beganAt < $1.beganAt }
    self.isShortest = isShortest
  }

  /// Whether these answers alone make the history impossible.
  private static func isContradiction(_ part: [Int], of history: [Call]) -> Bool {
    let kept = Set(part)
    let relaxed = history.enumerated().map { kept.contains($0.offset) ? $0.element : $0.element.unanswered }
    return !LinearizabilityChecker(relaxed).isLinearizable
  }

  /// Drops the answers after the first contradiction, and then each one that is not needed.
  private static func reduced(_ answered: [Int], of history: [Call]) -> [Int] {
    var (low, high) = (1, answered.count)
    while low < high {
      let middle = (low + high) / 2
      if isContradiction(Array(answered.prefix(middle)), of: history) {
        high = middle
      } else {
        low = middle + 1
      }
    }
    var part = Array(answered.prefix(high))
    for index in part where part.count > 1 {
      let fewer = part.filter { $0 != index }
      if isContradiction(fewer, of: history) { part = fewer }
    }
    return part
  }

  /// Calls `body` with each choice of this many indices, until it returns false. Returns whether all were visited.
  private static func visit(_ count: Int, of indices: [Int], _ body: ([Int]) -> Bool) -> Bool {
    var chosen = Array(0..<count)
    guard count <= indices.count else { return true }
    while true {
      guard body(chosen.map { indices[$0] }) else { return false }
      guard let place = chosen.indices.last(where: { chosen[$0] < indices.count - count + $0 }) else {
        return true
      }
      chosen[place] += 1
      for later in chosen.indices where later > place { chosen[later] = chosen[later - 1] + 1 }
    }
  }
}

extension ShortestPart: CustomStringConvertible {
  /// A line for each call: when it began and was answered, by which client, and what.
  package var description: String {
    calls.map { call in
      "\(call.beganAt)…\(call.answeredAt)  client \(call.client): \(Model.words(call.input, call.output))"
    }.joined(separator: "\n")
  }
}
