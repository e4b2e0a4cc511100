import AppStoreReceipts
import Foundation
import PurchaseSQLite
import PurchaseSync

// MARK: begin
/// A backend that reads nothing but the app receipt: `POST /receipts {receipt, transaction} → {owner}`. It credits this
/// transaction, if the receipt holds it and no user has it. The receipt may hold purchases of other users, too.
struct ReceiptBackend: PurchaseBackend {
  struct Question: Codable { var receipt, transaction: String }
  struct Answer: Codable { var owner: String? }

  /// The app receipt of the device: `{ try await store.receipt() }`.
  let receipt: @Sendable () async throws -> [UInt8]?
  /// Sends a body with a token to the server, and returns status and body.
  let post: @Sendable (_ path: String, _ token: String, _ body: Data) async throws -> (Int, Data)

  func verify(_ purchase: UploadedPurchase, for owner: BackendCaller) async throws -> BackendVerdict {
    guard owner.account != nil else { return .pending(reason: "bought before sign-in") }
    guard let bytes = try await receipt() else { return .pending(reason: "no receipt on this device") }
    let question = Question(
      receipt: Data(bytes).base64EncodedString(), transaction: purchase.transactionID)
    let (status, body) = try await post("/receipts", owner.token, try JSONEncoder().encode(question))
    switch status {
    case 200:
      switch try JSONDecoder().decode(Answer.self, from: body).owner {
      case "caller": return .granted
      case "another": return .belongsToAnother
      // The system writes the receipt some time after the purchase.
      default: return .pending(reason: "the receipt does not hold the transaction yet")
      }
    case 401: throw BackendFailure.tokenRefused
    default: return .pending(reason: "HTTP \(status)")
    }
  }
}
// MARK: end

/// The server for it, in memory.
final class ReceiptServer: Sendable {
  /// The user of each transaction.
  let credits = Locked<[String: String]>([:])
  let calls = Locked(0)
  /// Who gets what no user has, if not the caller.
  let rival = Locked<String?>(nil)

  func backend(_ receipt: @escaping @Sendable () async throws -> [UInt8]?) -> ReceiptBackend {
    ReceiptBackend(receipt: receipt) { _, token, body in
      self.calls.withLock { $0 += 1 }
      let question = try JSONDecoder().decode(ReceiptBackend.Question.self, from: body)
      let receipt = try AppReceipt(decoding: Array(Data(base64Encoded: question.receipt) ?? Data()))
      let id = question.transaction
      let owner = self.credits.withLock { credits in
        let isThere = receipt.inApp.contains { $0.transactionID == id }
        if isThere, credits[id] == nil { credits[id] = self.rival.value ?? token }
        return credits[id].map { $0 == token ? "caller" : "another" }
      }
      return (200, try JSONEncoder().encode(ReceiptBackend.Answer(owner: owner)))
    }
  }
}
