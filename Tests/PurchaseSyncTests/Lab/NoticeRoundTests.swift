import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// The rounds of notices, and of questions about orders, without an engine.
@Suite struct NoticeRoundTests {
  private typealias Step = NoticeRound.Step

  private static let open = NoticeRound.Moment(isAwake: true, pause: nil, now: midday)
  private static let closed: [NoticeRound.Moment] = [
    NoticeRound.Moment(isAwake: false, pause: nil, now: midday),
    NoticeRound.Moment(isAwake: true, pause: Wait(.asked, began: midday, milliseconds: 1_000), now: midday),
  ]

  /// What happens to a step; the table's row without one takes it as done.
  enum Event {
    /// The backend could not be reached, or the file failed.
    case fails
    /// The engine goes to the background, or the backend asks for a pause: before the step after this one.
    case closes
    /// Something else came up.
    case isWanted
  }

  /// Performs a round, and returns its steps. The events come after the step with their number.
  private func steps(
    of round: inout NoticeRound, questions: [String], _ events: [Int: Event], closing: Int = 0
  ) -> [Step] {
    var (steps, moment) = ([Step](), Self.open)
    while steps.count < 50 {
      let step = round.next(at: moment)
      steps.append(step)
      if case .end = step { break }
      if case .findQuestions = step { round.found(questions: questions) }
      switch events[steps.count] {
      case .fails?: round.failed()
      case .closes?: moment = Self.closed[closing]
      case .isWanted?:
        let begins = round.wanted(at: Self.open)
        #expect(!begins)
      case nil: if case .publish = step { round.published(isReachable: true) }
      }
    }
    return steps
  }

  private static let table: [([Int: Event], [Step])] = [
    (
      [:],
      [
        .publish("a"), .publish("b"), .findQuestions, .ask("x"), .ask("y"), .end(isWanted: false),
      ]
    ),
    // The backend cannot be reached: the second notice waits.
    ([1: .fails], [.publish("a"), .findQuestions, .ask("x"), .ask("y"), .end(isWanted: false)]),
    (
      [2: .fails],
      [.publish("a"), .publish("b"), .findQuestions, .ask("x"), .ask("y"), .end(isWanted: false)]
    ),
    ([3: .fails], [.publish("a"), .publish("b"), .findQuestions, .end(isWanted: false)]),
    ([4: .fails], [.publish("a"), .publish("b"), .findQuestions, .ask("x"), .end(isWanted: false)]),
    ([1: .closes], [.publish("a"), .end(isWanted: false)]),
    ([3: .closes], [.publish("a"), .publish("b"), .findQuestions, .end(isWanted: false)]),
    ([4: .closes], [.publish("a"), .publish("b"), .findQuestions, .ask("x"), .end(isWanted: false)]),
    (
      [1: .isWanted, 4: .isWanted],
      [.publish("a"), .publish("b"), .findQuestions, .ask("x"), .ask("y"), .end(isWanted: true)]
    ),
  ]

  @Test(arguments: table.indices, closed.indices)
  func `a round publishes, then asks, and ends early where nothing may go out`(row: Int, closing: Int) {
    let (events, expected) = Self.table[row]
    var round = NoticeRound()
    let begins = (round.wanted(at: Self.open), round.begin(notices: ["a", "b"], questions: ["x", "y"]))
    #expect(begins == (true, true))
    let steps = steps(of: &round, questions: ["x", "y"], events, closing: closing)
    #expect(steps == expected)
    // Nothing is left of it.
    let isWanted = round.wanted(at: Self.open)
    #expect(isWanted)
  }

  @Test(arguments: closed.indices)
  func `no round begins in the background or in a pause`(closing: Int) {
    var round = NoticeRound()
    let begins = [round.wanted(at: Self.closed[closing]), round.wanted(at: Self.open)]
    #expect(begins == [false, true])
    // It is not remembered either: the foreground, and the answer after a pause, begin one.
    let isBegun = round.begin(notices: ["a"], questions: [])
    #expect(isBegun)
    let steps = steps(of: &round, questions: [], [:])
    #expect(steps == [.publish("a"), .findQuestions, .end(isWanted: false)])
  }

  @Test func `a pause that is over holds nothing back`() {
    let over = NoticeRound.Moment(
      isAwake: true, pause: Wait(.asked, began: midday, milliseconds: 1_000),
      now: midday.adding(milliseconds: 1_000))
    var round = NoticeRound()
    let isWanted = round.wanted(at: over)
    #expect(isWanted)
  }

  @Test func `nothing pending begins no round`() {
    var round = NoticeRound()
    let begins = (round.wanted(at: Self.open), round.begin(notices: [], questions: []))
    #expect(begins == (true, false))
  }

  @Test func `an order is asked about once in a process, and only when the question goes out`() {
    var round = NoticeRound()
    let questions = ["x", "y"]
    var rounds: [[Step]] = []
    for events in [[2: Event.closes], [:], [:]] where round.begin(notices: [], questions: questions) {
      rounds.append(steps(of: &round, questions: questions, events))
    }
    #expect(rounds == ["x", "y"].map { [.findQuestions, .ask($0), .end(isWanted: false)] })
  }

  @Test func `an account without a token has no more notices in a round, and has them in the next one`() {
    var round = NoticeRound()
    for _ in 0..<2 {
      let begins = round.begin(notices: ["a"], questions: [])
      #expect(begins && round.isOpen(to: "alice"))
      round.lacksToken("alice")
      #expect(!round.isOpen(to: "alice") && round.isOpen(to: "bob"))
      _ = steps(of: &round, questions: [], [:])
    }
  }

  // MARK: Answers

  private static let document = OrderDocument(
    number: "1", accountToken: orderToken(1), productID: "gems", quantity: 1, state: .cancelled,
    createdAt: midday)

  /// The answer, and whether the notice is acknowledged, whether others follow, and how many events come of it: of an
  /// order that this device made, and of one of the backend's.
  private static let answers: [(OrderAnswer<OrderDocument?>, Bool, isReachable: Bool, made: Int, Int)] = [
    (.success(document), true, true, 0, 0), (.success(nil), true, true, 0, 0),
    (.failure(.tokenRefused), false, true, 0, 0),
    (.failure(.unreachable(reason: "down")), false, false, 0, 0),
    (.failure(.unsendable(reason: "long")), false, true, 1, 1),
    (.failure(.otherProtocol(status: 406, reason: "old")), false, false, 1, 1),
    (.failure(.refused(status: 422)), true, true, 1, 0),
  ]

  @Test(arguments: answers)
  private func `only the backend's own answer to a notice ends it`(
    answer: OrderAnswer<OrderDocument?>, isAcknowledged: Bool, isReachable: Bool, made: Int, other: Int
  ) {
    for (isMadeHere, events) in [(true, made), (false, other)] {
      let end = NoticeRound.End(of: "1", isMadeHere: isMadeHere, answer)
      #expect(end.isAcknowledged == isAcknowledged)
      #expect(end.isReachable == isReachable)
      #expect((end.event == nil ? 0 : 1) == events)
      if case .failure(.tokenRefused) = answer { #expect(end.isRefused) } else { #expect(!end.isRefused) }
    }
  }

  @Test func `the document of another order changes nothing of this one`() {
    #expect(NoticeRound.End(of: "1", isMadeHere: false, .success(Self.document)).document == Self.document)
    #expect(NoticeRound.End(of: "2", isMadeHere: false, .success(Self.document)).document == nil)
  }

  @Test
  func `what is published of an order is the device's whole order, or a state that matters to the backend`() {
    let made = DeviceOrder(
      number: "1", accountToken: orderToken(1), account: "alice", productID: "gems", quantity: 1,
      createdAt: midday)
    #expect(OrderNotice(.open, of: "1", made) == .made(made))
    #expect(OrderNotice(.open, of: "1", nil) == nil)
    #expect(OrderNotice(.cancelled, of: "1", nil) == .became(.cancelled, number: "1"))
    #expect(OrderNotice(.deferred, of: "1", nil) == .became(.deferred, number: "1"))
  }
}
