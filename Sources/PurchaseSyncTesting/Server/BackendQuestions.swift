import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync

/// The store's answers that the backend has before it takes the mock's lock, by question.
typealias StoreAnswers = [VerificationQuery: StoreAnswer]

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
  mutating func ask(_ query: VerificationQuery, answers: StoreAnswers, now: Timestamp) -> StoreAnswer {
    if let answer = answers[query] { return answer }
    // Any fault that the plan has for this path means that the store does not answer.
    if faults.next(method: "POST", path: Self.verificationPath) != nil { return StoreAnswer(.unavailable) }
    return store.answer(to: query, now: now)
  }

  /// Runs the backend's job with the store in process, due or not.
  mutating func runJob(now: Timestamp) throws {
    var answers: StoreAnswers = [:]
    var settled: [(question: JobQuestion, answer: StoreAnswer)] = []
    for question in try backend.jobQuestions(at: now) {
      let answer = ask(question.query, answers: answers, now: now)
      answers[question.query] = answer
      settled.append((question, answer))
    }
    try backend.change { $0.finishJob(settled, now: now) }
  }

  /// Runs the job if it is due. A job that could not be committed stays due.
  mutating func runDueJob(now: Timestamp) {
    do {
      guard try backend.model().isJobDue(at: now) else { return }
      try runJob(now: now)
    } catch {
      failedJobs += 1
    }
  }
}

/// The store of a mock server, for callers that do not hold the server's lock.
struct StoreInProcess: ReceiptVerifier {
  let mock: Locked<MockState>

  func answer(to query: VerificationQuery, now: Timestamp) -> StoreAnswer {
    mock.withLock { $0.ask(query, answers: [:], now: now) }
  }
}
