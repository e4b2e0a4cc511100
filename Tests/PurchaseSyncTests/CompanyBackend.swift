import Foundation
import PurchaseSQLite
import PurchaseSync

// MARK: begin
/// A company's own endpoint: `POST /iap/verify {receipt, user, order} → {ok}`. It keeps a table of transaction ids, so
/// that a repeated call credits nothing again.
struct CompanyBackend: PurchaseBackend {
  struct Question: Codable {
    var receipt: String
    var transaction: String
    var user: String
    var order: String?
  }
  struct Answer: Codable { var ok: Bool }

  /// Sends a body with a token to the company's server, and returns status and body.
  let post: @Sendable (_ path: String, _ token: String, _ body: Data) async throws -> (Int, Data)

  func verify(_ purchase: UploadedPurchase, for owner: BackendCaller) async throws -> BackendVerdict {
    guard let user = owner.account else { return .pending(reason: "bought before sign-in") }
    guard let receipt = purchase.proof else { return .pending(reason: "no receipt on this device") }
    let question = Question(
      receipt: receipt, transaction: purchase.transactionID, user: user, order: purchase.orderNumber)
    let (status, body) = try await post("/iap/verify", owner.token, try JSONEncoder().encode(question))
    switch status {
    case 200:
      let answer = try JSONDecoder().decode(Answer.self, from: body)
      return answer.ok ? .granted : .rejected(reason: "the company does not accept the receipt")
    case 401: throw BackendFailure.tokenRefused
    case 429, 503: throw BackendFailure.busy()
    default: return .pending(reason: "HTTP \(status)")
    }
  }
}
// MARK: end

/// The company's server, in memory.
final class CompanyServer: Sendable {
  struct State {
    /// The user and the order of each transaction.
    var credits: [String: [String?]] = [:]
    var calls = 0
    var users: Set<String> = []
    /// The numbers of calls whose answer is lost.
    var lost: Set<Int> = []
    var status = 200
    var isPleased = true
  }
  struct Lost: Error {}

  let state = Locked(State())

  var backend: CompanyBackend {
    CompanyBackend { path, token, body in
      let question = try JSONDecoder().decode(CompanyBackend.Question.self, from: body)
      return try self.state.withLock { state in
        state.calls += 1
        guard path == "/iap/verify", token == "token-" + question.user else { return (401, Data()) }
        guard state.status == 200 else { return (state.status, Data()) }
        if state.isPleased { state.credits[question.transaction] = [question.user, question.order] }
        if state.lost.contains(state.calls) { throw Lost() }
        return (200, try JSONEncoder().encode(CompanyBackend.Answer(ok: state.isPleased)))
      }
    }
  }
}
