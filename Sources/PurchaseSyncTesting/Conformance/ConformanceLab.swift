package import AppStoreReceipts
package import Foundation
import PurchaseSync

/// A backend under test with two of its accounts, and the store that issues their proofs.
///
/// Records every request and answer since `begin`, with the bodies as `describe` shows them.
package actor ConformanceLab {
  /// Whose credentials a request has.
  package enum Caller: Sendable {
    case alice, bob
    case device(UUID)
    /// A device on which an account is signed in.
    case deviceOfAlice(UUID), deviceOfBob(UUID)
    case token(String)
    case anonymous
  }

  package struct Reply: Sendable {
    package var status: Int
    package var contentType: String?
    package var json: JSONValue?
    package var size: Int
  }

  /// A payment at the store.
  package struct Paid: Sendable {
    package var transactionID: String
    package var productID: String
    package var jws: String
  }

  /// One request and its answer, for the report.
  package struct Exchange: Sendable, Encodable {
    package var sent: String
    package var received: String
  }

  private let backend: URLSessionTransport
  private let store: URLSessionTransport
  private let tokens: (alice: String, bob: String)
  private let describe: @Sendable (Data, JSONValue?) -> String
  package private(set) var exchanges: [Exchange] = []
  private var count = 0
  private let run = UUID().uuidString.prefix(8).lowercased()
  private var product: String?

  /// - Parameters:
  ///   - backend: The base URL of the backend under test.
  ///   - store: The base URL of the mock store's routes.
  ///   - tokens: The bearer tokens of two different accounts.
  ///   - describe: Shows a body in `exchanges`. It must leave out credentials and proofs.
  package init(
    backend: URL, store: URL, tokens: (alice: String, bob: String),
    describe: @escaping @Sendable (Data, JSONValue?) -> String
  ) {
    self.backend = URLSessionTransport(base: backend, timeout: 20, responseBytes: 16 << 20)
    self.store = URLSessionTransport(base: store, timeout: 20, responseBytes: 64 << 20)
    self.tokens = tokens
    self.describe = describe
  }

  /// Forgets the recorded exchanges.
  package func begin() { exchanges = [] }

  /// A name that no other check or run uses: a backend keeps what earlier ones sent.
  func unique(_ word: String) -> String {
    count += 1
    return "\(word)-\(run)-\(count)"
  }

  // MARK: The backend

  package func send(
    _ method: String, _ path: String, as caller: Caller = .alice, headers: [String: String] = [:],
    json: JSONValue? = nil
  ) async throws -> Reply {
    try await send(method, path, as: caller, headers: headers, body: json?.data ?? Data())
  }

  package func send(
    _ method: String, _ path: String, as caller: Caller = .alice, headers: [String: String] = [:],
    body: Data
  ) async throws -> Reply {
    var fields = headers
    if !body.isEmpty { fields["Content-Type"] = "application/json" }
    fields["Authorization"] = credentials(caller)
    fields[BackendRequest.signedInHeader] = signedIn(caller)
    let request = BackendRequest(method: method, path: path, headers: fields, body: body)
    return try await exchange(request, over: backend, "/" + path)
  }

  private func credentials(_ caller: Caller) -> String? {
    switch caller {
    case .alice: "Bearer " + tokens.alice
    case .bob: "Bearer " + tokens.bob
    case .device(let device), .deviceOfAlice(let device), .deviceOfBob(let device):
      // A secret that only this lab uses: the name again.
      "Device \(device.uuidString):\(device.uuidString)"
    case .token(let token): "Bearer " + token
    case .anonymous: nil
    }
  }

  private func signedIn(_ caller: Caller) -> String? {
    switch caller {
    case .deviceOfAlice: "Bearer " + tokens.alice
    case .deviceOfBob: "Bearer " + tokens.bob
    default: nil
    }
  }

  private func exchange(
    _ request: BackendRequest, over transport: URLSessionTransport, _ path: String
  ) async throws -> Reply {
    let response: BackendResponse
    do {
      response = try await transport.send(request)
    } catch {
      record(request, path, "no answer: \(error.reason)")
      throw ConformanceFailure("an answer")
    }
    let json = Self.json(response.body)
    record(request, path, "\(response.status) " + describe(response.body, json))
    return Reply(
      status: response.status, contentType: response.contentType, json: json, size: response.body.count)
  }

  /// Nil for a body that is not JSON.
  private static func json(_ body: Data) -> JSONValue? {
    do throws(ReceiptDecodingError) {
      return try JSONValue(json: body)
    } catch {
      return nil
    }
  }

  private func record(_ request: BackendRequest, _ path: String, _ received: String) {
    let body = request.body.isEmpty ? "" : " " + describe(request.body, Self.json(request.body))
    exchanges.append(Exchange(sent: "\(request.method) \(path)\(body)", received: received))
  }

  // MARK: The store

  /// A product that can be bought many times.
  func productID() async throws -> String {
    if let product { return product }
    let reply = try await ask("GET", "products")
    let products = reply.json?["products"]?.array ?? []
    let found = products.first { $0["kind"]?.string == "Consumable" } ?? products.first
    guard let id = found?["id"]?.string else { throw ConformanceFailure("a product that the store sells") }
    product = id
    return id
  }

  func pay(token: String?, storeAccount: String) async throws -> Paid {
    let product = try await productID()
    var payment: [String: JSONValue] = ["productID": .string(product), "storeAccount": .string(storeAccount)]
    if let token { payment["accountToken"] = .string(token) }
    let reply = try await ask("POST", "payments", .object(payment))
    guard reply.status == 200, let id = reply.json?["transactionID"]?.string,
      let jws = reply.json?["signedTransaction"]?.string
    else { throw ConformanceFailure("a payment at the store: 200 with transactionID and signedTransaction") }
    return Paid(transactionID: id, productID: product, jws: jws)
  }

  /// The app receipt of a store account, base64.
  func receipt(of storeAccount: String) async throws -> String {
    let reply = try await ask("GET", "receipt?storeAccount=\(storeAccount)")
    guard let receipt = reply.json?["receipt"]?.string else {
      throw ConformanceFailure("an app receipt of the store")
    }
    return receipt
  }

  private func ask(_ method: String, _ path: String, _ json: JSONValue? = nil) async throws -> Reply {
    let headers = json == nil ? [:] : ["Content-Type": "application/json"]
    let request = BackendRequest(method: method, path: path, headers: headers, body: json?.data ?? Data())
    return try await exchange(request, over: store, "store: /" + path)
  }
}

/// A broken promise: what the check expected.
package struct ConformanceFailure: Error {
  package var expected: String

  init(_ expected: String) { self.expected = expected }
}
