import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSync

/// What the store said before the world's lock was taken, by what it was asked.
typealias StoreAnswers = [VerificationQuery: StoreAnswer]

/// The backend's questions to the store. A server whose store is somewhere else asks them without the lock:
/// `queries(of:)`, then the verifier, then the route with the answers.
extension WorldState {
  /// What a request makes the backend ask the store: nothing for most. Needs no lock; what cannot be read asks nothing,
  /// and is refused by its route.
  static func queries(of request: HTTPRequest) -> [VerificationQuery] {
    guard request.method == "POST" else { return [] }
    switch request.path {
    case uploadPath:
      do throws(HTTPProblem) {
        let queries = try JSONBody.decode(UploadBody.self, from: request).queries
        // More than an upload may claim is refused, and asks nothing.
        return queries.count <= 100 ? queries : []
      } catch {
        return []
      }
    case "/v1/notifications/appstore": return notificationQueries(of: request)
    default: return []
    }
  }

  /// An upload without good credentials is refused before anything is asked; notifications have none.
  func mayAsk(about request: HTTPRequest) -> Bool {
    guard request.path == Self.uploadPath else { return true }
    do throws(HTTPProblem) {
      _ = try credentials.uploader(of: request)
      return true
    } catch {
      return false
    }
  }

  /// The answer that was got before, or else that of the store in process.
  mutating func ask(_ query: VerificationQuery, answers: StoreAnswers, now: Timestamp) -> StoreAnswer {
    if let answer = answers[query] { return answer }
    return store.answer(verify(query, now: now), to: query, now: now)
  }

  /// Runs the backend's job with the store in process, whether it is time for it or not.
  mutating func runJob(now: Timestamp) throws(HTTPProblem) -> JobRun {
    var answers: StoreAnswers = [:]
    for question in try jobQuestions(now: now) {
      answers[question.query] = ask(question.query, answers: answers, now: now)
    }
    return try finishJob(answers: answers, now: now)
  }

  /// Runs the job if it is time for it. One that could not be committed is due again at once.
  mutating func runDueJob(now: Timestamp) {
    do throws(HTTPProblem) {
      guard try model().isJobDue(at: now) else { return }
      _ = try runJob(now: now)
    } catch {
      failedJobs += 1
    }
  }

  /// What the job has to ask now. With a store somewhere else: ask without the lock, then ``finishJob(answers:now:)``.
  func jobQuestions(now: Timestamp) throws(HTTPProblem) -> [JobQuestion] {
    do throws(BackendStoreError) {
      return try backend.jobQuestions(at: now)
    } catch {
      throw .failed(error)
    }
  }

  /// Takes in what the store said to the job's questions. A question without an answer stays due.
  mutating func finishJob(answers: StoreAnswers, now: Timestamp) throws(HTTPProblem) -> JobRun {
    let settled = try jobQuestions(now: now).map {
      (question: $0, answer: answers[$0.query] ?? StoreAnswer(.unavailable))
    }
    return try backend.perform(failing: HTTPProblem.failed) {
      model throws(HTTPProblem) -> (JobRun, [BackendWrite]) in
      let writes = model.finishJob(settled, now: now)
      return (model.lastJob ?? JobRun(at: now, due: settled.count, unanswered: settled.count), writes)
    }
  }
}
