import Foundation
import PurchaseSync

/// A company's own endpoint: `POST /iap/verify {receipt, user, order} → {ok}`. It keeps a table of transaction ids: a
/// repeated call credits nothing again, and what no user has is given to the one who asks.
package struct CompanyBackend: PurchaseBackend {
  package struct Question: Codable {
    package var receipt, transaction, user: String
    package var order: String?
  }
  /// With `ok`, the user has it now. Without, `why` says what is final; anything else may change.
  package struct Answer: Codable {
    package var ok: Bool
    package var why: String?
    package init(ok: Bool, why: String?) { (self.ok, self.why) = (ok, why) }
  }

  let http: any BackendTransport

  package init(http: any BackendTransport) { self.http = http }

  package func verify(_ purchase: UploadedPurchase, for owner: BackendCaller) async throws -> BackendVerdict {
    guard let user = owner.account else { return .pending(reason: "bought before sign-in") }
    guard let receipt = purchase.proof else { return .pending(reason: "no receipt on this device") }
    let question = Question(
      receipt: receipt, transaction: purchase.transactionID, user: user, order: purchase.orderNumber)
    let reply = try await http.send(
      BackendRequest(
        method: "POST", path: "iap/verify", headers: ["Authorization": "Bearer " + owner.token],
        body: try JSONEncoder().encode(question)))
    switch reply.status {
    case 200:
      let answer = try JSONDecoder().decode(Answer.self, from: reply.body)
      if answer.ok { return .granted }
      if answer.why == "another user has it" { return .belongsToAnother }
      return .pending(reason: "the company does not know it yet")
    case 401: throw BackendFailure.tokenRefused
    case 429, 503: throw BackendFailure.busy()
    default: return .pending(reason: "HTTP \(reply.status)")
    }
  }
}
