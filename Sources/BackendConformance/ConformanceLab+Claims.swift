package import AppStoreReceipts
package import Foundation
import PurchaseSyncTesting

/// Orders, claims and verdicts.
extension ConformanceLab {
  package struct MadeOrder: Sendable {
    package var number: String
    package var token: String
  }

  /// Makes an order for the caller.
  package func order(
    as caller: Caller = .alice, key: String? = nil, product: String? = nil, quantity: Int64 = 1
  ) async throws -> MadeOrder {
    let product = if let product { product } else { try await productID() }
    let key = key ?? unique("key")
    let reply = try await send(
      "POST", "v1/orders", as: caller, headers: ["Idempotency-Key": key],
      json: ["productID": .string(product), "quantity": .integer(quantity)])
    return try Self.order(in: reply)
  }

  static func order(in reply: Reply) throws -> MadeOrder {
    guard reply.status == 201 || reply.status == 200, let number = reply.json?["number"]?.string,
      let token = reply.json?["accountToken"]?.string, UUID(uuidString: token) != nil
    else { throw ConformanceFailure("201 or 200, with number and accountToken") }
    return MadeOrder(number: number, token: token)
  }

  /// Makes an order and pays it at the store.
  package func paidOrder(
    as caller: Caller = .alice, storeAccount: String? = nil, product: String? = nil, quantity: Int64 = 1
  ) async throws -> (MadeOrder, Paid) {
    let order = try await order(as: caller, product: product, quantity: quantity)
    let paid = try await pay(
      token: order.token, storeAccount: storeAccount ?? unique("apple"), product: product,
      quantity: quantity)
    return (order, paid)
  }

  /// Makes an order, pays it, and uploads the payment until it is granted.
  func grantedOrder(
    as caller: Caller = .alice, product: String? = nil
  ) async throws -> (MadeOrder, Paid) {
    let (order, paid) = try await paidOrder(as: caller, product: product)
    let word = try await settled(paid, order: order.number, as: caller)
    try expect(word == "granted", "granted")
    return (order, paid)
  }

  /// A claim as the engine makes it.
  package static func claim(_ paid: Paid, order: String? = nil) -> JSONValue {
    var claim: [String: JSONValue] = [
      "transactionID": .string(paid.transactionID), "environment": .string(paid.environment),
      "productID": .string(paid.productID), "quantity": .integer(paid.quantity),
      "purchasedAt": .integer(Self.now), "match": order == nil ? "none" : "bound",
    ]
    if let order { claim["orderNumber"] = .string(order) }
    return .object(claim)
  }

  static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }

  /// A claim for one of these orders, the likeliest first.
  static func proposal(_ paid: Paid, _ orders: [MadeOrder]) -> JSONValue {
    with(
      with(claim(paid), "match", "proposed"), "candidates", .array(orders.map { .string($0.number) }))
  }

  /// Uploads claims that all rest on one proof, or on none.
  package func upload(
    _ claims: [JSONValue], proof: JSONValue?, as caller: Caller = .alice, device: UUID = UUID()
  ) async throws -> Reply {
    guard let proof else { return try await upload(claims, proofs: [], as: caller, device: device) }
    return try await upload(
      claims.map { Self.with($0, "proof", 0) }, proofs: [proof], as: caller, device: device)
  }

  /// Uploads claims that name their proofs themselves.
  package func upload(
    _ claims: [JSONValue], proofs: [JSONValue], as caller: Caller = .alice, device: UUID = UUID()
  ) async throws -> Reply {
    var upload: [String: JSONValue] = ["device": .string(device.uuidString), "claims": .array(claims)]
    if !proofs.isEmpty { upload["proofs"] = .array(proofs) }
    return try await send("POST", "v1/receipts", as: caller, json: .object(upload))
  }

  /// The claim with another value of one member.
  static func with(_ claim: JSONValue, _ name: String, _ value: JSONValue) -> JSONValue {
    var members = claim.object ?? [:]
    members[name] = value
    return .object(members)
  }

  package static func signed(_ paid: Paid) -> JSONValue {
    ["kind": "signedTransaction", "data": .string(paid.jws)]
  }

  /// The verdict about a transaction; throws if the reply has none.
  func verdict(_ reply: Reply, about id: String) throws -> String {
    try expect(reply.status == 200, "200")
    let verdicts = reply.json?["verdicts"]?.array ?? []
    guard let found = verdicts.first(where: { $0["transactionID"]?.string == id }) else {
      throw ConformanceFailure("a verdict about each claim")
    }
    try expect(
      found["environment"]?.string == claimedEnvironments[id] ?? Paid.production,
      "the claim's environment, echoed")
    guard let word = found["verdict"]?.string else { throw ConformanceFailure("a verdict") }
    return word
  }

  /// Uploads the claim until its verdict is not `pending`, at most ten times. The verdict is `pending` while the
  /// backend waits for the store.
  package func settled(
    _ claim: JSONValue, _ id: String, proof: JSONValue?, as caller: Caller = .alice, device: UUID = UUID()
  ) async throws -> String {
    for _ in 0..<10 {
      let reply = try await upload([claim], proof: proof, as: caller, device: device)
      let word = try verdict(reply, about: id)
      if word != "pending" { return word }
      try await site.pause(.milliseconds(500))
    }
    return "pending"
  }

  /// The same for a payment with its own proof.
  func settled(
    _ paid: Paid, order: String? = nil, as caller: Caller = .alice, device: UUID = UUID()
  ) async throws -> String {
    try await settled(
      Self.claim(paid, order: order), paid.transactionID, proof: Self.signed(paid), as: caller,
      device: device)
  }

  /// The whole verdict about a claim that names no order, when it is no longer pending.
  func told(_ paid: Paid, as caller: Caller, device: UUID) async throws -> [String: JSONValue] {
    let claim = Self.claim(paid)
    let word = try await settled(
      claim, paid.transactionID, proof: Self.signed(paid), as: caller, device: device)
    var told: [String: JSONValue] = [:]
    for _ in 0..<10 {
      // The first answer about it, or the same again.
      let reply = try await upload([claim], proof: Self.signed(paid), as: caller, device: device)
      let verdicts = reply.json?["verdicts"]?.array ?? []
      guard let verdict = verdicts.first(where: { $0["transactionID"]?.string == paid.transactionID })?.object
      else { throw ConformanceFailure("a verdict about each claim") }
      told = verdict
      if told["verdict"]?.string != "pending" { break }
      try await site.pause(.milliseconds(500))
    }
    // Null and absent mean the same.
    told = told.filter { $0.value != .null }
    // The second upload of what was granted is a duplicate.
    if told["verdict"]?.string == "duplicate" { told["verdict"] = .string(word) }
    return told
  }

  // MARK: Reading

  /// The account's entitlements of a product; nil for the usual product.
  func entitlements(of product: String? = nil, by caller: Caller) async throws -> [JSONValue] {
    let product = if let product { product } else { try await productID() }
    let reply = try await send("GET", "v1/entitlements", as: caller)
    try expect(reply.status == 200, "200")
    guard let all = reply.json?["entitlements"]?.array else { throw ConformanceFailure("entitlements") }
    return all.filter { $0["productID"]?.string == product }
  }

  /// Those that do not end within an hour. An account keeps what earlier checks and earlier runs paid for: what ends
  /// between two looks of a check would be missing in the second.
  private func lastingEntitlements(of product: String?, by caller: Caller) async throws -> [JSONValue] {
    try await entitlements(of: product, by: caller).filter { item in
      guard case .integer(let end)? = item["expiresAt"] else { return true }
      return !(began...began + 3_600_000).contains(end)
    }
  }

  /// How many of the product the account has, apart from those that end within an hour.
  func held(by caller: Caller, of product: String? = nil) async throws -> Int64 {
    var sum: Int64 = 0
    for item in try await lastingEntitlements(of: product, by: caller) {
      guard case .integer(let quantity)? = item["quantity"], (1...1_000_000).contains(quantity) else {
        throw ConformanceFailure("a quantity of 1 to 1000000")
      }
      sum += quantity
    }
    return sum
  }

  /// The sum of the ends of all subscriptions to this product that last longer: it grows with each renewal.
  func ends(of product: String, by caller: Caller) async throws -> Double {
    try await lastingEntitlements(of: product, by: caller).reduce(0) { sum, item in
      guard case .integer(let end)? = item["expiresAt"] else {
        throw ConformanceFailure("an integer expiresAt of a subscription")
      }
      return sum + Double(end)
    }
  }

  /// The state of an order as its owner reads it.
  func state(of order: String, as caller: Caller = .alice) async throws -> String? {
    try await send("GET", Self.path(of: order), as: caller).json?["state"]?.string
  }

  /// Posts a signed notification.
  func notify(_ signedPayload: String?) async throws -> Reply {
    guard let signedPayload else { throw ConformanceFailure("a notification of the store") }
    return try await send(
      "POST", "v1/notifications/appstore", as: .anonymous, json: ["signedPayload": .string(signedPayload)])
  }
}
