import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSync
import TestSupport

@testable import PurchaseSyncTesting

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A running fixture and a client for it. Stopped with its owner.
final class MockServerFixture: Sendable {
  struct Reply {
    var status: Int
    var headers: [String: String]
    var body: Data

    func decode<T: Decodable>(_ type: T.Type) throws -> T { try JSONDecoder().decode(type, from: body) }
  }

  let server: MockServer
  private let directory: TemporaryDirectory
  private let session = URLSession(configuration: .ephemeral)

  init(
    faults: FaultPlan = .none, products: [StoreProduct] = Sample.products, signing: ForgeSigning = .checksum,
    broken: BrokenHooks? = nil, onRequest: (@Sendable (RequestMoment) -> Void)? = nil
  ) throws {
    directory = try TemporaryDirectory()
    server = try MockServer(
      databasePath: directory.path("backend.sqlite"), products: products, bundleID: Sample.bundleID,
      faults: faults, seed: 11, broken: broken, signing: signing, onRequest: onRequest, now: { Sample.now })
    try server.start()
  }

  deinit {
    session.invalidateAndCancel()
    server.stop()
  }

  static func bearer(_ account: String) -> [String: String] { ["Authorization": "Bearer token-\(account)"] }

  /// The credential of a device, on which an account may be signed in.
  static func device(_ device: UUID, of account: String? = nil) -> [String: String] {
    var headers = ["Authorization": "Device \(device.uuidString):secret-of-\(device.uuidString)"]
    headers["Account-Authorization"] = account.map { "Bearer token-\($0)" }
    return headers
  }

  func send(
    _ method: String, _ path: String, _ headers: [String: String] = [:], body: Data? = nil
  ) async throws -> Reply {
    guard let url = URL(string: server.baseURL.absoluteString + path) else { throw URLError(.badURL) }
    var request = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData)
    request.httpMethod = method
    request.httpBody = body
    // If a kept connection ends without an answer, libcurl repeats the request by itself. That would hide the faults
    // that are tested.
    request.setValue("close", forHTTPHeaderField: "Connection")
    // Otherwise a body is sent as a form's.
    if method == "POST" || method == "PUT" {
      request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    }
    for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
    let (data, response) = try await session.data(for: request)
    guard let http = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
    var fields: [String: String] = [:]
    for (name, value) in http.allHeaderFields { fields["\(name)".lowercased()] = "\(value)" }
    return Reply(status: http.statusCode, headers: fields, body: data)
  }

  func send(
    _ method: String, _ path: String, _ headers: [String: String] = [:], json: String
  ) async throws -> Reply {
    try await send(method, path, headers, body: Data(json.utf8))
  }

  // MARK: Steps of a purchase

  func order(_ account: String = "alice", product: String = "coins", key: String = "k1") async throws
    -> OrderDocument
  {
    let headers = Self.bearer(account).merging(["Idempotency-Key": key]) { first, _ in first }
    let reply = try await send(
      "POST", "/v1/orders", headers, json: #"{"productID":"\#(product)","quantity":1}"#)
    return try reply.decode(OrderDocument.self)
  }

  struct Payment: Decodable {
    var transactionID: String
    var signedTransaction: String
  }

  func pay(token: UUID? = nil, product: String = "coins") async throws -> Payment {
    let token = token.map { "\"\($0.uuidString)\"" } ?? "null"
    let json = #"{"storeAccount":"apple","productID":"\#(product)","quantity":1,"accountToken":\#(token)}"#
    return try await send("POST", "/store/payments", json: json).decode(Payment.self)
  }

  func upload(
    _ payment: Payment, headers: [String: String] = bearer("alice"), device: UUID = UUID(),
    order: String? = nil,
    withProof: Bool = true
  ) async throws -> ClaimVerdict? {
    try await reply(payment, headers: headers, device: device, order: order, withProof: withProof)
      .verdicts.first
  }

  func reply(
    _ payment: Payment, headers: [String: String] = bearer("alice"), device: UUID = UUID(),
    order: String? = nil, withProof: Bool = true
  ) async throws -> UploadReply {
    let proof = ProofDocument(kind: .signedTransaction, data: payment.signedTransaction)
    let claim = claim(for: payment, order: order)
    let request = UploadRequest(device: device, proof: withProof ? proof : nil, claims: [claim])
    let reply = try await send("POST", "/v1/receipts", headers, body: JSONEncoder().encode(request))
    return try reply.decode(UploadReply.self)
  }

  /// One upload of all of them, each with its proof.
  func upload(of payments: [Payment]) throws -> Data {
    let claims = payments.indices.map { index in
      var claim = claim(for: payments[index], order: nil)
      claim.proof = index
      return claim
    }
    let proofs = payments.map { ProofDocument(kind: .signedTransaction, data: $0.signedTransaction) }
    return try JSONEncoder().encode(UploadRequest(device: UUID(), proofs: proofs, claims: claims))
  }

  private func claim(for payment: Payment, order: String?) -> Claim {
    Claim(
      transactionID: payment.transactionID, environment: "Production", productID: "coins", quantity: 1,
      purchasedAt: Sample.now, match: order == nil ? .none : .bound, orderNumber: order)
  }
}
