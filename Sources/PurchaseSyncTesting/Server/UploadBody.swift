import Foundation
import PurchaseQueue
package import PurchaseSync

/// The body of `POST /v1/receipts` in either form: with claims, or only a receipt.
package enum UploadBody: Decodable {
  case claims(UploadRequest)
  case receipt(ReceiptUpload)

  private enum Key: String, CodingKey {
    case receiptData = "receipt-data"
    case uuid, uid
  }

  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: Key.self)
    guard fields.contains(.receiptData) else {
      self = .claims(try UploadRequest(from: decoder))
      return
    }
    let upload = ReceiptUpload(
      receiptData: try fields.decode(String.self, forKey: .receiptData),
      device: try fields.decode(UUID.self, forKey: .uuid),
      account: try fields.decodeIfPresent(String.self, forKey: .uid))
    guard let upload else {
      throw DecodingError.dataCorruptedError(
        forKey: .receiptData, in: fields, debugDescription: "no receipt")
    }
    self = .receipt(upload)
  }

  /// The questions that it makes the backend ask the store.
  var queries: [VerificationQuery] {
    switch self {
    case .claims(let upload): BackendModel.queries(of: upload)
    case .receipt(let upload): upload.queries
    }
  }

  var claims: [Claim] {
    switch self {
    case .claims(let upload): upload.claims
    case .receipt(let upload): upload.claims
    }
  }

  /// The judgement of the backend. `answers` gives the store's answers to the queries.
  func judged(
    by model: inout BackendModel, from uploader: Uploader, signedIn: String?, now: Timestamp,
    answers: (VerificationQuery) -> StoreAnswer
  ) -> BackendModel.Judgement {
    switch self {
    case .claims(let upload):
      model.judge(upload, from: uploader, signedIn: signedIn, now: now, answers: answers)
    case .receipt(let upload): model.judge(upload, from: uploader, now: now, answers: answers)
    }
  }

  /// Throws a problem if the fields contradict each other or the credentials.
  package func check(_ uploader: Uploader) throws {
    let problem =
      switch self {
      case .claims(let upload): Self.problem(in: upload, from: uploader)
      case .receipt(let upload): Self.problem(in: upload, from: uploader)
      }
    if let problem { throw HTTPProblem.invalid(problem) }
  }

  private static func problem(in upload: ReceiptUpload, from uploader: Uploader) -> String? {
    switch uploader {
    case .device(let device) where device != upload.device: "uuid: not the one of the Authorization header"
    case .device where upload.account != nil: "uid: a device has no user"
    case .account(let account) where upload.account.map { $0 != account } ?? false:
      "uid: not the one of the Authorization header"
    default: nil
    }
  }

  private static func problem(in upload: UploadRequest, from uploader: Uploader) -> String? {
    guard (1...UploadRequest.mostClaims).contains(upload.claims.count) else {
      return "claims: \(upload.claims.count) of them; it has to be 1 to 100"
    }
    if case .device(let device) = uploader, device != upload.device {
      return "device: not the one of the Authorization header"
    }
    for (index, claim) in upload.claims.enumerated() {
      if claim.transactionID.isEmpty { return "claims.\(index).transactionID: blank" }
      if claim.productID.isEmpty { return "claims.\(index).productID: blank" }
      if claim.quantity < 1 { return "claims.\(index).quantity: less than 1" }
      if claim.match == .bound, claim.orderNumber == nil {
        return "claims.\(index).orderNumber: missing in a bound claim"
      }
      if let proof = claim.proof, !upload.proofs.indices.contains(proof) {
        return "claims.\(index).proof: there is no such proof in the list"
      }
    }
    return nil
  }
}
