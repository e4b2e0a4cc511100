import AppStoreReceipts
import CommandLineTools
import Foundation
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting

/// The backend as an app without the engine uses it: the requests are right, and only the status is read.
struct StatusOnlyBackend: Sendable {
  private let transport: SwitchedTransport

  /// Kept in the keychain, as apps do.
  private let device: UUID

  init(_ parts: AppParts) {
    let options = parts.options
    transport = SwitchedTransport(
      base: URLSessionTransport(base: options.server, timeout: 5), phone: parts.phone)
    device = DeviceFile.device(beside: options.vault)
  }

  /// The token of a new order; nil if the request fails, and then the purchase goes on without a token.
  func order(product: String, account: String, quantity: Int) async -> UUID? {
    struct Request: Encodable {
      var productID: String
      var quantity: Int
    }
    struct Reply: Decodable { var accountToken: UUID }
    do {
      let body = try JSONEncoder().encode(Request(productID: product, quantity: quantity))
      let request = BackendRequest(
        method: "POST", path: "v1/orders",
        headers: ["Authorization": "Bearer token-" + account, "Idempotency-Key": UUID().uuidString],
        body: body)
      return try JSONDecoder().decode(Reply.self, from: try await transport.send(request).body).accountToken
    } catch {
      Terminal.error("app: no order: \(error)")
      return nil
    }
  }

  /// The HTTP status; 0 if there was no answer.
  func upload(_ upload: ClientUpload, as account: String?) async -> Int {
    do {
      let body = try JSONEncoder().encode(
        UploadRequest(device: device, proof: upload.proof, claims: upload.claims))
      let name = account.map { "Bearer token-" + $0 } ?? "Device \(device.uuidString):\(device.uuidString)"
      let request = BackendRequest(
        method: "POST", path: "v1/receipts", headers: ["Authorization": name], body: body)
      return try await transport.send(request).status
    } catch {
      return 0
    }
  }
}

extension MockStoreClient {
  /// `finishTransaction` of the old interface reports no failure, so these apps do not see one.
  func finishOrGoOn(_ transactionID: String) async {
    do {
      _ = try await finish(transactionID: transactionID)
    } catch {
      Terminal.error("app: not finished: \(error)")
    }
  }
}

/// The part of a purchase that these apps keep and send.
struct ClientUpload: Codable, Sendable {
  var proof: ProofDocument
  var claims: [Claim]
  /// The account that was signed in at the payment.
  var account: String?
  /// How often it was sent, and since when; for a client that drops it.
  var attempts: Int?
  var since: Timestamp?

  init(_ transaction: StoreTransaction, account: String?) {
    self.account = account
    proof = Self.document(transaction.proof)
    claims = [
      Claim(
        transactionID: transaction.transactionID, originalTransactionID: transaction.originalTransactionID,
        environment: transaction.environment.rawValue, productID: transaction.productID,
        quantity: transaction.quantity, purchasedAt: transaction.purchasedAt, match: .none)
    ]
  }

  init(proof: Payload, claims: [Claim]) {
    self.proof = Self.document(proof)
    self.claims = claims
  }

  var transactionID: String { claims.first?.transactionID ?? "" }

  static func document(_ proof: Payload) -> ProofDocument {
    let isText = proof.kind == ProofKind.signedTransaction.rawValue
    return ProofDocument(
      kind: ProofKind(rawValue: proof.kind),
      data: isText ? String(decoding: proof.bytes, as: UTF8.self) : Data(proof.bytes).base64EncodedString())
  }
}

/// The id of the device, made once.
private enum DeviceFile {
  static func device(beside keychain: String) -> UUID {
    let path = keychain + "-device"
    let known = FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    if let device = known.flatMap(UUID.init(uuidString:)) { return device }
    let device = UUID()
    do {
      try device.uuidString.write(toFile: path, atomically: true, encoding: .utf8)
    } catch {
      Terminal.error("app: the device's id could not be kept: \(error.localizedDescription)")
    }
    return device
  }
}
