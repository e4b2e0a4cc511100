import Foundation
import PurchaseSQLite
import PurchaseSync

// MARK: begin
/// A company's own endpoint: `POST /iap/verify {receipt, user, order} → {ok}`. It keeps a table of transaction ids: a
/// repeated call credits nothing again, and what no user has is given to the one who asks.
struct CompanyBackend: PurchaseBackend {
  struct Question: Codable {
    var receipt: String
    var transaction: String
    var user: String
    var order: String?
  }
  /// With `ok`, the user has it now. Without, `why` says what is final; anything else may change.
  struct Answer: Codable {
    var ok: Bool
    var why: String?
  }

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
      if answer.ok { return .granted }
      if answer.why == "another user has it" { return .belongsToAnother }
      if answer.why == "forged" { return .rejected(reason: "the company does not accept the receipt") }
      return .pending(reason: "the company does not know it yet")
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
        if state.isPleased, state.credits[question.transaction] == nil {
          state.credits[question.transaction] = [question.user, question.order]
        }
        if state.lost.contains(state.calls) { throw Lost() }
        let isTheirs = state.credits[question.transaction]?.first == question.user
        let why = isTheirs ? nil : state.isPleased ? "another user has it" : "forged"
        return (200, try JSONEncoder().encode(CompanyBackend.Answer(ok: isTheirs, why: why)))
      }
    }
  }
}
