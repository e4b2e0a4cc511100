import LoopbackHTTP
import PurchaseQueue
import PurchaseSync

/// Planted bugs of the backend, which a check of the wire protocol has to find.
public enum BrokenBackend: String, Sendable, Hashable, CaseIterable {
  /// Grants a transaction each time it is claimed.
  case doubleGrant = "double-grant"
  /// Answers an upload with 200 and without verdicts.
  case bare200 = "bare-200"
  /// Answers `granted` and does not record the grant.
  case forgets
  /// A verdict about another account's purchase names the order that it fulfilled.
  case namesOrders = "names-orders"
  /// Verdicts have no owner.
  case ownerUntold = "owner-untold"
  /// What a device uploads is credited to the account that is signed in on it.
  case creditsSignedIn = "credits-signed-in"

  /// One line for a help text.
  public var summary: String {
    switch self {
    case .doubleGrant: "every upload of a transaction grants it again"
    case .bare200: "uploads are answered with 200 and no verdicts"
    case .forgets: "grants are not recorded"
    case .namesOrders: "verdicts name the orders of other accounts"
    case .ownerUntold: "verdicts do not say whose purchase it is"
    case .creditsSignedIn: "a device's uploads are credited to the account that is signed in"
    }
  }

  /// Answers an upload as this backend does.
  func upload(_ mock: inout MockState, _ call: Route.Call) throws -> HTTPResponse {
    switch self {
    case .bare200:
      var response = try JSONBody.response(try MockState.upload(&mock, call))
      response.body = Array("{}".utf8)
      return response
    case .forgets: return try JSONBody.response(try forgetting(&mock, call))
    case .namesOrders:
      var reply = try MockState.upload(&mock, call)
      let credits = try mock.backend.model().credits
      for index in reply.verdicts.indices where reply.verdicts[index].verdict == .otherOwner {
        let id = reply.verdicts[index].transactionID
        let credit = credits.last { $0.transaction.transactionID == id }
        reply.verdicts[index].orderNumber = credit?.orderNumber
      }
      return try JSONBody.response(reply)
    case .ownerUntold:
      var reply = try MockState.upload(&mock, call)
      for index in reply.verdicts.indices { reply.verdicts[index].owner = nil }
      return try JSONBody.response(reply)
    case .creditsSignedIn:
      var call = call
      if let account = call.request.headers[BackendRequest.signedInHeader] {
        call.request.headers["Authorization"] = account
      }
      return try JSONBody.response(try MockState.upload(&mock, call))
    case .doubleGrant:
      let before = try mock.backend.model().credits.count
      let reply = try MockState.upload(&mock, call)
      let isUnchanged = try mock.backend.model().credits.count == before
      return try JSONBody.response(isUnchanged ? try grantAgain(&mock, reply, call) : reply)
    }
  }

  /// Judges by a copy of the model and discards the copy.
  private func forgetting(_ mock: inout MockState, _ call: Route.Call) throws -> UploadReply {
    let uploader = try mock.credentials.sender(of: call.request).uploader
    let upload = try JSONBody.decode(UploadRequest.self, from: call.request)
    guard (1...100).contains(upload.claims.count) else { return try MockState.upload(&mock, call) }
    var model = try mock.backend.model()
    let judgement = model.judge(upload, from: uploader, now: call.now) {
      mock.ask($0, answers: call.answers, now: call.now)
    }
    return UploadReply(ledgerEpoch: model.ledgerEpoch, verdicts: judgement.verdicts)
  }

  private func grantAgain(
    _ mock: inout MockState, _ first: UploadReply, _ call: Route.Call
  ) throws -> UploadReply {
    var reply = first
    try mock.backend.change { model in
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
      return writes
    }
    return reply
  }
}
