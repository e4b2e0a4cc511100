import BackendConformance
import PurchaseSyncTesting
import TestSupport
import Testing

/// The checker of histories, against one that tries every order.
@Suite struct LinearizabilityTests {
  typealias Order = HistoryCall<OrderModel>
  typealias Grant = HistoryCall<GrantModel>

  private func order(_ number: String?, _ span: ClosedRange<Int>) -> Order {
    Order(client: 1, input: .init(), output: number, beganAt: span.lowerBound, answeredAt: span.upperBound)
  }

  private func grant(_ input: GrantModel.Input, _ word: String?, _ span: ClosedRange<Int>) -> Grant {
    Grant(client: 1, input: input, output: word, beganAt: span.lowerBound, answeredAt: span.upperBound)
  }

  private func isLinearizable(_ calls: [Grant]) -> Bool { LinearizabilityChecker(calls).isLinearizable }

  @Test func `one key has one order`() {
    #expect(LinearizabilityChecker<OrderModel>([]).isLinearizable)
    #expect(LinearizabilityChecker([order("1", 1...4), order("1", 2...3)]).isLinearizable)
    #expect(!LinearizabilityChecker([order("1", 1...4), order("2", 2...3)]).isLinearizable)
  }

  @Test func `a duplicate needs a grant before it or beside it`() {
    #expect(
      isLinearizable([grant(.uploadByOwner, "granted", 1...4), grant(.uploadByOwner, "duplicate", 2...3)]))
    #expect(
      !isLinearizable([grant(.uploadByOwner, "duplicate", 1...2), grant(.uploadByOwner, "granted", 3...4)]))
  }

  @Test func `a call without an answer may have taken effect at any time, or never`() {
    let lost = grant(.uploadByOwner, nil, 1...1)
    #expect(isLinearizable([lost, grant(.uploadByOwner, "granted", 3...4)]))
    #expect(isLinearizable([lost, grant(.uploadByOwner, "duplicate", 3...4)]))
    #expect(
      isLinearizable([
        lost, grant(.readOrder, "open", 3...4), grant(.readOrder, "delivered", 5...6),
      ]))
    #expect(
      !isLinearizable([lost, grant(.readOrder, "delivered", 3...4), grant(.readOrder, "open", 5...6)]))
  }

  @Test func `the shortest part has only the answers that contradict each other`() throws {
    let calls = [
      grant(.uploadByOwner, "granted", 1...4), grant(.uploadByOther, "otherOwner", 2...6),
      grant(.uploadByOwner, nil, 3...3), grant(.readOrder, "delivered", 7...8),
      grant(.uploadByOwner, "granted", 9...10), grant(.uploadByOwner, "duplicate", 11...12),
    ]
    let part = try #require(ShortestPart(of: calls))
    #expect(part.isShortest)
    #expect(
      part.calls.map(\.output) == ["delivered", "granted"]
        || part.calls.map(\.output) == ["granted", "granted"])
    #expect(part.calls.count == 2)
    #expect(part.description.contains("granted"))
    #expect(ShortestPart(of: Array(calls.prefix(4))) == nil)
  }

  /// Overlapping calls with random answers.
  private func history<Model: SequentialModel>(
    _ count: Int, _ inputs: [Model.Input], _ outputs: [Model.Output], _ random: inout SplitMix64
  ) -> [HistoryCall<Model>] {
    var moments = Array(1...2 * count).shuffled(using: &random)
    return (0..<count).map { number in
      let (first, second) = (moments.removeLast(), moments.removeLast())
      let isLost = Int.random(in: 0..<4, using: &random) == 0
      return HistoryCall(
        client: number, input: inputs.randomElement(using: &random) ?? inputs[0],
        output: isLost ? nil : outputs.randomElement(using: &random),
        beganAt: min(first, second), answeredAt: max(first, second))
    }
  }

  /// Tries every order of every choice of the unanswered calls.
  private func isPossible<Model: SequentialModel>(
    _ calls: [HistoryCall<Model>], _ state: Model.State, of _: Model.Type
  ) -> Bool {
    if calls.allSatisfy({ $0.output == nil }) { return true }
    let deadline = calls.filter { $0.output != nil }.map(\.answeredAt).min() ?? .max
    for index in calls.indices where calls[index].beganAt < deadline {
      guard let next = Model.step(state, calls[index].input, calls[index].output) else { continue }
      var others = calls
      others.remove(at: index)
      if isPossible(others, next, of: Model.self) { return true }
    }
    return false
  }

  @Test func `the search agrees with the one that tries every order`() {
    var random = SplitMix64(seed: LongTests.seeds(short: 1, long: 1).lowerBound)
    var (possible, impossible) = (0, 0)
    for _ in 0..<LongTests.count(short: 1_500, long: 20_000) {
      let count = Int.random(in: 1...7, using: &random)
      let orders: [Order] = history(count, [.init()], ["1", "1", "2"], &random)
      #expect(
        LinearizabilityChecker(orders).isLinearizable == isPossible(orders, .none, of: OrderModel.self))
      let grants: [Grant] = history(
        count, [.uploadByOwner, .uploadByOther, .readOrder],
        ["granted", "duplicate", "otherOwner", "delivered", "open", "pending"], &random)
      // Only answers that fit their question, or nearly every history is impossible.
      let fitting = grants.filter { call in
        guard let word = call.output else { return true }
        return GrantModel.step(true, call.input, word) != nil
          || GrantModel.step(false, call.input, word) != nil
      }
      let expected = isPossible(fitting, false, of: GrantModel.self)
      #expect(isLinearizable(fitting) == expected)
      if expected { possible += 1 } else { impossible += 1 }
    }
    #expect(possible > 100 && impossible > 100)
  }

  @Test func `the shortest part is as short as any, and is impossible`() {
    var random = SplitMix64(seed: LongTests.seeds(short: 1, long: 1).lowerBound)
    var found = 0
    for _ in 0..<LongTests.count(short: 150, long: 1_000) {
      let calls: [Grant] = history(
        6, [.uploadByOwner], ["granted", "duplicate"], &random)
      guard let part = ShortestPart(of: calls) else {
        #expect(isLinearizable(calls))
        continue
      }
      found += 1
      // Every choice of fewer answers is possible: the other calls count as unanswered.
      for mask in 0..<(1 << calls.count) where mask.nonzeroBitCount < part.calls.count {
        let relaxed = calls.enumerated().map { index, call in
          mask >> index & 1 == 1
            ? call : Grant(client: call.client, input: call.input, output: nil, beganAt: call.beganAt)
        }
        #expect(isLinearizable(relaxed))
      }
    }
    #expect(found > 20)
  }

  @Test func `a long history of one object is searched without going deep for each call`() {
    var calls: [Order] = []
    for number in 0..<LongTests.count(short: 2_000, long: 100_000) {
      calls.append(order("1", 3 * number...3 * number + 7))
    }
    #expect(LinearizabilityChecker(calls).isLinearizable)
    calls.append(order("2", 3...9))
    #expect(!LinearizabilityChecker(calls).isLinearizable)
  }
}
