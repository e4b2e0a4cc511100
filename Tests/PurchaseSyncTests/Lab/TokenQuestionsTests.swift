import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// When the app is asked for a token, and who shares the answer.
@Suite struct TokenQuestionsTests {
  private typealias Step = TokenQuestions.Step

  private static let hers = AccountCredential(account: "alice", token: "a")
  private static let newer = AccountCredential(account: "alice", token: "b")

  /// What happens between the first question, or the answer to it, and the next request.
  enum Event: CaseIterable {
    case nothing, wake, bobSignsIn, sheSignsIn, purchase, background, minute
    case refusal, refusalOfAnother, taken
  }

  private func happens(_ event: Event, _ book: inout TokenBook) {
    switch event {
    case .nothing, .minute: break
    case .wake: book.woken(.foreground)
    case .bobSignsIn: book.woken(.signedIn(account: "bob"))
    case .sheSignsIn: book.woken(.signedIn(account: "alice"))
    case .purchase: book.personActs()
    case .background: book.suspended()
    case .refusal: book.ended(.refused, Self.hers, at: 0)
    case .refusalOfAnother: book.ended(.refused, AccountCredential(account: "bob", token: "a"), at: 0)
    case .taken: book.ended(.taken, Self.hers, at: 0)
    }
  }

  private func next(after event: Event, _ book: inout TokenBook) -> Step {
    happens(event, &book)
    return book.needed(of: "alice", at: event == .minute ? 60_000 : 59_999)
  }

  @Test(arguments: Event.allCases) func `a token holds until something may have changed`(event: Event) {
    var book = TokenBook()
    #expect(book.needed(of: "alice", at: 0) == .ask(1))
    book.answered(1, of: "alice", .token(Self.hers), at: 0)
    let holds: Set<Event> = [.nothing, .refusalOfAnother, .taken]
    let step = next(after: event, &book)
    #expect(step == (holds.contains(event) ? .take(Self.hers) : .ask(2)))
  }

  @Test(arguments: Event.allCases)
  func `a question that is under way is joined, unless it may bring an old answer`(event: Event) {
    var book = TokenBook()
    #expect(book.needed(of: "alice", at: 0) == .ask(1))
    let isOutdated = [.sheSignsIn, .background, .refusal].contains(event)
    let step = next(after: event, &book)
    #expect(step == (isOutdated ? .ask(2) : .join(1)))
    // The answer to the earlier question is for those who asked it.
    book.answered(1, of: "alice", .token(Self.newer), at: 0)
    let later = book.needed(of: "alice", at: 0)
    #expect(later == (isOutdated ? .join(2) : .take(Self.newer)))
  }

  @Test func `two requests that are refused with one token share the question for a newer one`() {
    var book = TokenBook()
    _ = book.needed(of: "alice", at: 0)
    book.answered(1, of: "alice", .token(Self.hers), at: 0)
    book.ended(.refused, Self.hers, at: 1)
    #expect(book.needed(of: "alice", at: 1) == .ask(2))
    book.ended(.refused, Self.hers, at: 2)
    #expect(book.needed(of: "alice", at: 2) == .join(2))
    book.answered(2, of: "alice", .token(Self.newer), at: 3)
    book.ended(.refused, Self.hers, at: 4)
    #expect(book.needed(of: "alice", at: 4) == .take(Self.newer))
  }

  @Test(arguments: [CredentialAnswer.none, .late]) func `that there is no token never holds`(
    answer: CredentialAnswer
  ) {
    var book = TokenBook()
    _ = book.needed(of: "alice", at: 0)
    book.answered(1, of: "alice", answer, at: 0)
    #expect(book.needed(of: "alice", at: 0) == .ask(2))
  }

  @Test func `no dump of a known token shows it`() {
    var book = TokenBook()
    _ = book.needed(of: "alice", at: 0)
    book.answered(1, of: "alice", .token(AccountCredential(account: "alice", token: "secret")), at: 0)
    var text = ""
    dump(book, to: &text)
    #expect(!text.contains("secret"))
  }

  // MARK: Those who wait

  /// A question that the app does not answer.
  private func question() -> Task<Void, Never> {
    Task { for await _ in AsyncStream<Never>.makeStream().stream {} }
  }

  @Test func `a caller that is cancelled returns, and the others get the answer`() async {
    var callers = CredentialCallers()
    let question = question()
    callers.asked(1, question)
    let (first, second) = (callers.wait(for: 1), callers.wait(for: 1))
    let caller = Task { () -> CredentialAnswer? in
      for await answer in first { return answer }
      return nil
    }
    caller.cancel()
    #expect(await caller.value == nil)
    #expect(!callers.leaves(1) && !question.isCancelled)
    callers.ended(1, .token(Self.hers))
    for await answer in second {
      #expect(answer == .token(Self.hers))
      break
    }
    question.cancel()
  }

  @Test func `a question for which nobody waits any more is cancelled`() async {
    var callers = CredentialCallers()
    let question = question()
    callers.asked(1, question)
    _ = (callers.wait(for: 1), callers.wait(for: 1))
    let ends = [callers.leaves(1), callers.leaves(1), callers.leaves(1)]
    #expect(ends == [false, true, false])
    await question.value
  }

  // MARK: The engine

  @Test func `the notices of a wake need one question`() async throws {
    try await OwnershipLab.with { lab in
      let asked = Locked(0)
      var configuration = try lab.configuration("phone", signedIn: nil)
      configuration.orderPolicy = .deviceOnly
      let engine = try await lab.open(
        configuration,
        credentials: { request in
          asked.withLock { $0 += 1 }
          return "token-" + request.account
        })
      lab.server.setFaults(.outage(path: "/v1", requests: 10_000))
      for _ in 0..<5 { _ = try await engine.begin(product: "gems", account: "alice") }
      try await until { await engine.isAtRest }
      lab.server.setFaults(.none)
      asked.withLock { $0 = 0 }
      try await engine.wake(.networkBack)
      try await until { try await engine.pendingNotices() == 0 }
      #expect(asked.value == 1)
      await engine.shutdown()
    }
  }
}
