package import AppStoreReceipts
package import Foundation

/// One promise of the wire protocol and the requests that test it.
package struct ConformanceCheck: Sendable {
  package var name: String
  /// The promise in one sentence.
  package var promise: String
  /// Throws `ConformanceFailure` if the backend breaks the promise.
  package var run: @Sendable (ConformanceLab) async throws -> Void

  package static var all: [ConformanceCheck] { orders + uploads + sharing + owners + refusals }
}

/// Throws a `ConformanceFailure` with this text, which the report shows, unless the condition holds.
func expect(_ holds: Bool, _ what: @autoclosure () -> String) throws {
  if !holds { throw ConformanceFailure(what()) }
}

extension ConformanceLab {
  package struct MadeOrder: Sendable {
    package var number: String
    package var token: String
  }

  /// Makes an order of quantity 1 for the caller.
  package func order(as caller: Caller = .alice, key: String? = nil) async throws -> MadeOrder {
    let product = try await productID()
    let key = key ?? unique("key")
    let reply = try await send(
      "POST", "v1/orders", as: caller, headers: ["Idempotency-Key": key],
      json: ["productID": .string(product), "quantity": 1])
    guard reply.status == 201 || reply.status == 200, let number = reply.json?["number"]?.string,
      let token = reply.json?["accountToken"]?.string, UUID(uuidString: token) != nil
    else { throw ConformanceFailure("201 or 200, with number and accountToken") }
    return MadeOrder(number: number, token: token)
  }

  /// Makes an order and pays it at the store.
  package func paidOrder(
    as caller: Caller = .alice, storeAccount: String? = nil
  ) async throws -> (MadeOrder, Paid) {
    let order = try await order(as: caller)
    return (order, try await pay(token: order.token, storeAccount: storeAccount ?? unique("apple")))
  }

  /// A claim as the engine makes it.
  package static func claim(_ paid: Paid, order: String? = nil) -> JSONValue {
    var claim: [String: JSONValue] = [
      "transactionID": .string(paid.transactionID), "environment": "Production",
      "productID": .string(paid.productID), "quantity": 1, "purchasedAt": .integer(Self.now),
      "match": order == nil ? "none" : "bound",
    ]
    if let order { claim["orderNumber"] = .string(order) }
    return .object(claim)
  }

  private static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }

  /// Uploads claims that all rest on one proof, or on none.
  package func upload(
    _ claims: [JSONValue], proof: JSONValue?, as caller: Caller = .alice, device: UUID = UUID()
  ) async throws -> Reply {
    guard let proof else { return try await upload(claims, proofs: [], as: caller, device: device) }
    return try await upload(claims.map { Self.claim($0, on: 0) }, proofs: [proof], as: caller, device: device)
  }

  /// Uploads claims that name their proofs themselves.
  package func upload(
    _ claims: [JSONValue], proofs: [JSONValue], as caller: Caller = .alice, device: UUID = UUID()
  ) async throws -> Reply {
    var upload: [String: JSONValue] = ["device": .string(device.uuidString), "claims": .array(claims)]
    if !proofs.isEmpty { upload["proofs"] = .array(proofs) }
    return try await send("POST", "v1/receipts", as: caller, json: .object(upload))
  }

  /// The claim with the number of its proof in the list.
  package static func claim(_ claim: JSONValue, on proof: Int64) -> JSONValue {
    var members = claim.object ?? [:]
    members["proof"] = .integer(proof)
    return .object(members)
  }

  package static func signed(_ paid: Paid) -> JSONValue {
    ["kind": "signedTransaction", "data": .string(paid.jws)]
  }

  /// The verdict about a transaction; throws if the reply has none.
  func verdict(_ reply: Reply, about id: String) throws -> String {
    try expect(reply.status == 200, "200")
    try expect(reply.json?["ledgerEpoch"]?.string?.isEmpty == false, "a ledgerEpoch")
    let verdicts = reply.json?["verdicts"]?.array ?? []
    guard let found = verdicts.first(where: { $0["transactionID"]?.string == id }) else {
      throw ConformanceFailure("a verdict about each claim")
    }
    try expect(found["environment"]?.string == "Production", "the claim's environment, echoed")
    guard let word = found["verdict"]?.string else { throw ConformanceFailure("a verdict") }
    return word
  }

  /// Uploads the claim until its verdict is not `pending`, at most ten times. The verdict is `pending` while the
  /// backend waits for the store.
  package func settled(
    _ claim: JSONValue, _ id: String, proof: JSONValue?, as caller: Caller = .alice, device: UUID = UUID()
  ) async throws -> String {
    for _ in 0..<10 {
      let word = try verdict(try await upload([claim], proof: proof, as: caller, device: device), about: id)
      if word != "pending" { return word }
      try await Task.sleep(for: .milliseconds(500))
    }
    return "pending"
  }

  /// How many of the product the account has.
  func held(by caller: Caller) async throws -> Int64 {
    let product = try await productID()
    let reply = try await send("GET", "v1/entitlements", as: caller)
    try expect(reply.status == 200, "200")
    guard let all = reply.json?["entitlements"]?.array else { throw ConformanceFailure("entitlements") }
    var sum: Int64 = 0
    for item in all where item["productID"]?.string == product {
      guard case .integer(let quantity)? = item["quantity"], (1...1_000_000).contains(quantity) else {
        throw ConformanceFailure("a quantity of 1 to 1000000")
      }
      sum += quantity
    }
    return sum
  }

  /// The state of an order as its owner reads it.
  func state(of order: String, as caller: Caller = .alice) async throws -> String? {
    try await send("GET", "v1/orders/\(order)", as: caller).json?["state"]?.string
  }
}
