import Dispatch
import Foundation
import LoopbackHTTP
package import PurchaseQueue
import PurchaseSQLite
import PurchaseSync

/// The backend's questions to the store. A server with a remote store asks them without the lock: `queries(of:)`, then
/// the verifier, then the route with the answers.
extension MockState {
  /// The questions that a request makes the backend ask; none for most requests. Needs no lock. An unreadable request
  /// has no questions, and its route refuses it.
  static func queries(of request: HTTPRequest) -> [VerificationQuery] {
    guard request.method == "POST" else { return [] }
    do {
      switch request.path {
      case uploadPath:
        let queries = try JSONBody.decode(UploadBody.self, from: request).queries
        // An upload with more claims is refused without a question.
        return queries.count <= 100 ? queries : []
      case notificationPath:
        try JSONBody.check(request)
        // With no signature accepted, a signed notification has no questions.
        return try StoreNotice(
          json: Data(request.body), bundleID: "", isSigned: { _ in false }, now: Timestamp(milliseconds: 0)
        ).queries
      default: return []
      }
    } catch {
      return []
    }
  }

  /// The questions that follow from the answers to these.
  static func queries(of request: HTTPRequest, after answers: StoreAnswers) -> [VerificationQuery] {
    request.upload.map { BackendModel.queries(of: $0, after: answers) } ?? []
  }

  /// False for an upload without valid credentials, which is refused before any question. Notifications have none.
  func mayAsk(about request: HTTPRequest) -> Bool {
    guard request.path == Self.uploadPath else { return true }
    do {
      _ = try credentials.sender(of: request)
      return true
    } catch {
      return false
    }
  }

  /// The answer from before the lock, or else the answer of the store in process.
  package mutating func ask(_ query: VerificationQuery, answers: StoreAnswers, now: Timestamp) -> StoreAnswer
  {
    if let answer = answers[query] { return answer }
    // Any fault that the plan has for this path means that the store does not answer; an answer in its place is not its.
    switch faults.next(method: "POST", path: Self.verificationPath(of: query)) {
    case nil: return store.answer(to: query, now: now)
    case .respond(let response) where response.status == 200: return StoreAnswer(.unsigned)
    default: return StoreAnswer(.unavailable)
    }
  }

  /// The questions of the job; nil if it is not due and was not asked for.
  mutating func dueQuestions(at now: Timestamp) throws -> [JobQuestion]? {
    let isAsked = isJobAsked
    isJobAsked = false
    guard try isAsked || backend.model().isJobDue(at: now) else { return nil }
    return try backend.jobQuestions(at: now)
  }
}

extension MockServer {
  /// Runs the backend's job if it is due, or was asked for. A job that could not be committed stays due.
  ///
  /// It asks whom the uploads ask, without the lock: over HTTP, planned faults strike it as well.
  func runDueJob(now: Timestamp) async {
    do {
      let (questions, verifier) = try mock.withLock { (try $0.dueQuestions(at: now), $0.verifier) }
      guard let questions else { return }
      let settled = await Self.answers(to: questions, by: verifier ?? StoreInProcess(mock: mock), now: now)
      try mock.withLock { state in try state.backend.change { $0.finishJob(settled, now: now) } }
    } catch {
      mock.withLock { $0.failedJobs += 1 }
    }
  }

  private static func answers(
    to questions: [JobQuestion], by verifier: any ReceiptVerifier, now: Timestamp
  ) async -> [(question: JobQuestion, answer: StoreAnswer)] {
    let ask: @Sendable () -> [StoreAnswer] = {
      var known: StoreAnswers = [:]
      return questions.map { question in
        let answer = known[question.query] ?? verifier.answer(to: question.query, now: now)
        known[question.query] = answer
        return answer
      }
    }
    // Over HTTP an answer takes its time, which must not hold a thread of the tasks.
    let answers =
      verifier is StoreInProcess
      ? ask()
      : await withCheckedContinuation { done in
        DispatchQueue.global().async { done.resume(returning: ask()) }
      }
    return Array(zip(questions, answers)).map { (question: $0, answer: $1) }
  }
}

/// The store of a mock server, for callers that do not hold the server's lock.
struct StoreInProcess: ReceiptVerifier {
  let mock: Locked<MockState>

  func answer(to query: VerificationQuery, now: Timestamp) -> StoreAnswer {
    mock.withLock { $0.ask(query, answers: [:], now: now) }
  }
}
