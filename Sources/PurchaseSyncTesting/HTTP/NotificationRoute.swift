import AppStoreReceipts
import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSync

extension WorldState {
  /// A server notification, of either version and any type. Version 2 is signed and counts as it is; version 1 is not, so
  /// what it says is only a reason to ask the store.
  ///
  /// 200 once what it teaches is committed; 202 if it teaches nothing; 503 if the store did not answer, and then the
  /// store, which is to post it again, will.
  static func notify(_ world: inout WorldState, _ call: Route.Call) throws(HTTPProblem) -> HTTPResponse {
    try notify(&world, call, answers: call.answers)
  }

  /// The same, with what the store said already to the ``queries(of:)`` of this request.
  static func notify(
    _ world: inout WorldState, _ call: Route.Call, answers: StoreAnswers
  ) throws(HTTPProblem) -> HTTPResponse {
    let forge = world.store.forge
    let notice = try notice(in: call.request, forge: forge, now: call.now)
    var lessons = notice.lessons
    var isUnanswered = false
    for query in notice.queries {
      let answer = world.ask(query, answers: answers, now: call.now)
      switch answer.outcome {
      case .genuine, .forged, .malformed, .refused, .notFound: break
      case .doubtful, .unavailable, .misconfigured: isUnanswered = true
      }
      if case .proof(let proof) = query {
        lessons.append(Lesson(proof: proof, answer: answer))
      } else {
        lessons.append(Lesson(proof: nil, answer: answer))
      }
    }
    guard !lessons.isEmpty else { return try JSONBody.response(EmptyDocument(), status: 202) }
    try world.backend.perform(failing: HTTPProblem.failed) {
      model throws(HTTPProblem) -> (Void, [BackendWrite]) in
      ((), model.learn(lessons, source: .notification(notice.type), now: call.now))
    }
    if isUnanswered {
      throw HTTPProblem(
        status: 503, type: "store", title: "The store did not answer",
        detail: "post the notification again later")
    }
    return try JSONBody.response(EmptyDocument())
  }

  private static func notice(
    in request: HTTPRequest, forge: ReceiptForge, now: Timestamp
  ) throws(HTTPProblem) -> StoreNotice {
    do throws(StoreNotice.Refusal) {
      return try StoreNotice(
        json: Data(request.body), bundleID: forge.bundleID, isSigned: forge.verify, now: now)
    } catch {
      switch error {
      case .malformed(let detail): throw .malformed(detail)
      case .untrue(let detail): throw .invalid(detail)
      }
    }
  }

  /// What an unsigned notification gives reason to ask; nothing of what cannot be read, which the route refuses.
  static func notificationQueries(of request: HTTPRequest) -> [VerificationQuery] {
    do throws(StoreNotice.Refusal) {
      // No signature is believed here: a signed notification asks nothing.
      return try StoreNotice(
        json: Data(request.body), bundleID: "", isSigned: { _ in false }, now: Timestamp(milliseconds: 0)
      ).queries
    } catch {
      return []
    }
  }
}
