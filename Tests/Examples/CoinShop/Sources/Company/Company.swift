import CoinShop
import Foundation
import PurchaseSync
import PurchaseSyncTesting

/// The company's server: it looks the transaction up at the store, and credits each one once.
package final class Company: @unchecked Sendable {
  package struct Credit: Sendable, Hashable {
    package var user: String
    package var order: String?
  }

  private let store: MockServer
  private let lock = NSLock()
  private var ledger: [String: Credit] = [:]

  package init(store: MockServer) { self.store = store }

  /// By transaction.
  package var credits: [String: Credit] { lock.withLock { ledger } }

  /// Answers `POST /iap/verify`.
  package func answer(_ request: BackendRequest) -> BackendResponse {
    do {
      let question = try JSONDecoder().decode(CompanyBackend.Question.self, from: request.body)
      guard request.headers["Authorization"] == "Bearer token-" + question.user else {
        return BackendResponse(status: 401, body: Data())
      }
      let isGenuine = store.withStore { $0.transaction(question.transaction) != nil }
      let owner = lock.withLock {
        let credit = Credit(user: question.user, order: question.order)
        if isGenuine, ledger[question.transaction] == nil { ledger[question.transaction] = credit }
        return ledger[question.transaction]?.user
      }
      let why = owner == nil ? "the store does not know it" : "another user has it"
      let answer = CompanyBackend.Answer(
        ok: owner == question.user, why: owner == question.user ? nil : why)
      let body = try JSONEncoder().encode(answer)
      return BackendResponse(status: 200, contentType: "application/json", body: body)
    } catch {
      return BackendResponse(status: 400, body: Data())
    }
  }
}
