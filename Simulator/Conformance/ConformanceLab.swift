import AppStoreReceipts
import Foundation
import PurchaseSync

/// A backend under test, two accounts of it, and the store where their proofs come from.
///
/// Remembers what was sent and what came back since `begin`, without credentials and proofs.
actor ConformanceLab {
  /// Who asks.
  enum Caller: Sendable {
    case alice, bob
    case device(UUID)
    case token(String)
    case nobody
  }

  struct Reply: Sendable {
    var status: Int
    var contentType: String?
    var json: JSONValue?
    var size: Int
  }

  /// A payment at the store.
  struct Paid: Sendable {
    var transactionID: String
    var productID: String
    var jws: String
    var storeAccount: String
  }

  /// One request and its answer, for the report.
  struct Exchange: Sendable, Encodable {
    var sent: String
    var received: String
  }

  let options: ConformanceOptions
  private let backend: URLSessionTransport
  private let store: URLSessionTransport
  private(set) var exchanges: [Exchange] = []
  private var count = 0
  private let run = UUID().uuidString.prefix(8).lowercased()
  private var product: String?

  init(_ options: ConformanceOptions) throws {
    self.options = options
    backend = URLSessionTransport(base: try Self.url(options.backend), timeout: 20, responseBytes: 16 << 20)
    store = URLSessionTransport(
      base: try Self.url(options.store ?? options.backend + "/store"), timeout: 20, responseBytes: 64 << 20)
  }

  private static func url(_ text: String) throws -> URL {
    guard let url = URL(string: text) else { throw ConformanceFailure("a URL: \(text)") }
    return url
  }

  func begin() { exchanges = [] }

  /// Different in every check and every run: a backend remembers.
  func unique(_ word: String) -> String {
    count += 1
    return "\(word)-\(run)-\(count)"
  }

  // MARK: The backend

  func send(
    _ method: String, _ path: String, as caller: Caller = .alice, headers: [String: String] = [:],
    json: JSONValue? = nil
  ) async throws -> Reply {
    try await send(method, path, as: caller, headers: headers, body: json?.data ?? Data())
  }

  func send(
    _ method: String, _ path: String, as caller: Caller = .alice, headers: [String: String] = [:],
    body: Data
  ) async throws -> Reply {
    var fields = headers
    if !body.isEmpty { fields["Content-Type"] = "application/json" }
    fields["Authorization"] = credentials(caller)
    let request = BackendRequest(method: method, path: path, headers: fields, body: body)
    return try await exchange(request, over: backend, "/" + path)
  }

  private func credentials(_ caller: Caller) -> String? {
    switch caller {
    case .alice: "Bearer " + options.token
    case .bob: "Bearer " + options.otherToken
    case .device(let device): "Device " + device.uuidString
    case .token(let token): "Bearer " + token
    case .nobody: nil
    }
  }

  private func exchange(
    _ request: BackendRequest, over transport: URLSessionTransport, _ path: String
  ) async throws -> Reply {
    let response: BackendResponse
    do {
      response = try await transport.send(request)
    } catch {
      note(request, path, "no answer: \(error.reason)")
      throw ConformanceFailure("an answer")
    }
    var json: JSONValue?
    if !response.body.isEmpty {
      do { json = try JSONValue(json: response.body) } catch { json = nil }
    }
    note(
      request, path,
      "\(response.status) "
        + ConformanceText.shortened(response.body, json, without: [options.token, options.otherToken]))
    return Reply(
      status: response.status, contentType: response.contentType, json: json, size: response.body.count)
  }

  private func note(_ request: BackendRequest, _ path: String, _ received: String) {
    var json: JSONValue?
    do { json = try JSONValue(json: request.body) } catch { json = nil }
    let body =
      request.body.isEmpty
      ? ""
      : " " + ConformanceText.shortened(request.body, json, without: [options.token, options.otherToken])
    exchanges.append(Exchange(sent: "\(request.method) \(path)\(body)", received: received))
  }

  // MARK: The store

  /// Something that can be bought many times.
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
    return Paid(transactionID: id, productID: product, jws: jws, storeAccount: storeAccount)
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

/// What was expected and did not come.
struct ConformanceFailure: Error {
  var expected: String

  init(_ expected: String) { self.expected = expected }
}
