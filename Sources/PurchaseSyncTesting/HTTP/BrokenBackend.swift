import LoopbackHTTP
import PurchaseQueue
import PurchaseSync

/// Backends that are wrong on purpose: what a check of the contract has to find.
public enum BrokenBackend: String, Sendable, Hashable, CaseIterable {
  /// Grants a transaction each time it is claimed.
  case doubleGrant = "double-grant"
  /// Answers an upload with 200, and with nothing about the claims.
  case bare200 = "bare-200"
  /// Says `granted`, and does not remember it.
  case forgets

  /// A line for people.
  public var summary: String {
    switch self {
    case .doubleGrant: "every upload of a transaction grants it again"
    case .bare200: "uploads are answered with 200 and no verdicts"
    case .forgets: "what is granted is not remembered"
    }
  }

  /// An upload as this backend takes it.
  func upload(_ world: inout WorldState, _ call: Route.Call) throws(HTTPProblem) -> HTTPResponse {
    switch self {
    case .bare200:
      var response = try WorldState.upload(&world, call)
      if response.status == 200 { response.body = Array("{}".utf8) }
      return response
    case .forgets:
      return try forgetting(&world, call)
    case .doubleGrant:
      let before = try world.model().credits.count
      let response = try WorldState.upload(&world, call)
      guard response.status == 200, try world.model().credits.count == before else { return response }
      return try grantAgain(&world, response, call)
    }
  }

  /// Judged by a copy that is thrown away.
  private func forgetting(
    _ world: inout WorldState, _ call: Route.Call
  ) throws(HTTPProblem) -> HTTPResponse {
    let uploader = try world.credentials.uploader(of: call.request)
    let upload = try JSONBody.decode(UploadRequest.self, from: call.request)
    guard (1...100).contains(upload.claims.count) else { return try WorldState.upload(&world, call) }
    var model = try world.model()
    let judgement = model.judge(upload, from: uploader, now: call.now) {
      world.ask($0, answers: call.answers, now: call.now)
    }
    return try JSONBody.response(UploadReply(ledgerEpoch: model.ledgerEpoch, verdicts: judgement.verdicts))
  }

  private func grantAgain(
    _ world: inout WorldState, _ response: HTTPResponse, _ call: Route.Call
  ) throws(HTTPProblem) -> HTTPResponse {
    var reply = try JSONBody.decode(
      UploadReply.self, from: HTTPRequest(method: "POST", path: "/", body: response.body))
    try world.backend.perform(failing: HTTPProblem.failed) {
      model throws(HTTPProblem) -> (Void, [BackendWrite]) in
      var writes: [BackendWrite] = []
      for index in reply.verdicts.indices where reply.verdicts[index].verdict == .duplicate {
        let id = reply.verdicts[index].transactionID
        guard var credit = model.credits.last(where: { $0.transaction.transactionID == id }) else { continue }
        credit.sequence = model.credits.count + 1
        credit.at = call.now
        model.apply(.credit(credit))
        writes.append(.credit(credit))
        reply.verdicts[index].verdict = .granted
      }
      return ((), writes)
    }
    return try JSONBody.response(reply)
  }
}
