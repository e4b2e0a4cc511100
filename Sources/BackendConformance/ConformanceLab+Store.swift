package import AppStoreReceipts
import Foundation
import PurchaseSync
import PurchaseSyncTesting

/// The mock store, as the checks use it.
extension ConformanceLab {
  /// A payment at the store.
  package struct Paid: Sendable {
    package var transactionID: String
    package var productID: String
    package var quantity: Int64 = 1
    package var jws: String
    /// The notification of the change that made it; nil for a first payment.
    package var notification: String?

    static let production = "Production"

    /// As the proof says; production for a text that is none.
    var environment: String { JWSText.payload(of: jws)?["environment"]?.string ?? Self.production }
  }

  /// A product that can be bought many times.
  func productID() async throws -> String {
    if let product = site.product { return product }
    return try await product { $0["kind"]?.string == "Consumable" }
  }

  /// The same; nil if none is known.
  package func soldProduct() async -> String? {
    do { return try await productID() } catch { return nil }
  }

  /// Another product that can be bought many times.
  func otherProductID() async throws -> String {
    let first = try await productID()
    return try await product { $0["kind"]?.string == "Consumable" && $0["id"]?.string != first }
  }

  /// A product that a family shares.
  func sharedProductID() async throws -> String {
    try await product {
      $0["isFamilyShareable"] == .bool(true) && $0["kind"]?.string == "Non-Consumable"
    }
  }

  /// The id of the store's first such product.
  private func product(_ isWanted: (JSONValue) -> Bool) async throws -> String {
    let all = try await allProducts()
    guard let id = all.first(where: isWanted)?["id"]?.string else {
      throw ConformanceFailure("a product of this kind in the store's list")
    }
    return id
  }

  package func allProducts() async throws -> [JSONValue] {
    if let products { return products }
    let reply = try await ask("GET", "store/products")
    guard let all = reply.json?["products"]?.array, !all.isEmpty else {
      throw ConformanceFailure("a product that the store sells")
    }
    products = all
    return all
  }

  /// A subscription without a trial, and one of the same group with a higher level. A count leaves out what ends within an
  /// hour, so their periods are longer.
  func plans() async throws -> (lower: String, higher: String) {
    let plans = try await allProducts().filter { product in
      guard case .integer(let period)? = product["periodMilliseconds"] else { return false }
      return product["kind"]?.string == "Auto-Renewable Subscription" && period > 2 * 3_600_000
    }
    func level(_ plan: JSONValue) -> Int64 {
      if case .integer(let level)? = plan["level"] { level } else { 1 }
    }
    let basic = plans.filter { $0["trialMilliseconds"] == nil }.max { level($0) < level($1) }
    let high = plans.first { $0["groupID"] == basic?["groupID"] && level($0) < basic.map(level) ?? 0 }
    guard let lower = basic?["id"]?.string, let higher = high?["id"]?.string else {
      throw ConformanceFailure(
        "two subscriptions of one group, of different levels and more than two hours, in the store's list")
    }
    return (lower, higher)
  }

  /// A period of the lower plan of alice's, and the higher plan that has replaced it since. Both are credited.
  func replacedPeriod() async throws -> (old: Paid, higher: String) {
    let (lower, higher) = try await plans()
    let apple = unique("apple")
    let old = try await withClock(movedBy: -600_000) {
      try await pay(token: nil, storeAccount: apple, product: lower)
    }
    try await settle(old, to: "granted")
    try await settle(try await renew(old, to: higher), to: "granted", "duplicate")
    return (old, higher)
  }

  func pay(
    token: String?, storeAccount: String, product: String? = nil, quantity: Int64 = 1
  ) async throws -> Paid {
    let product = if let product { product } else { try await productID() }
    var payment: [String: JSONValue] = [
      "productID": .string(product), "storeAccount": .string(storeAccount), "quantity": .integer(quantity),
    ]
    if let token { payment["accountToken"] = .string(token) }
    let reply = try await ask("POST", "store/payments", .object(payment))
    guard reply.status == 200, let id = reply.json?["transactionID"]?.string,
      let jws = reply.json?["signedTransaction"]?.string
    else { throw ConformanceFailure("a payment at the store: 200 with transactionID and signedTransaction") }
    return Paid(transactionID: id, productID: product, quantity: quantity, jws: jws)
  }

  /// The app receipt of a store account, as a proof.
  ///
  /// - Parameter query: What is unusual about it, such as `&broken=wrong-root`.
  func receipt(of storeAccount: String, _ query: String = "") async throws -> JSONValue {
    let reply = try await ask("GET", "store/receipt?storeAccount=\(storeAccount)\(query)")
    guard let receipt = reply.json?["receipt"]?.string else {
      throw ConformanceFailure("an app receipt of the store")
    }
    return ["kind": "appReceipt", "data": .string(receipt)]
  }

  /// Refunds a payment, or this many units of it. The result has the transaction as it is signed then, and the store's
  /// notification.
  func refund(_ paid: Paid, units: Int64? = nil) async throws -> Paid {
    var wish: [String: JSONValue] = ["transactionID": .string(paid.transactionID)]
    wish["units"] = units.map(JSONValue.integer)
    return try await refund(paid, .object(wish))
  }

  /// Refunds the price of the rest of a subscription's period.
  func refundRest(of paid: Paid) async throws -> Paid {
    try await refund(paid, ["transactionID": .string(paid.transactionID), "timeLeft": true])
  }

  private func refund(_ paid: Paid, _ wish: JSONValue) async throws -> Paid {
    let reply = try await ask("POST", "store/refunds", wish)
    guard let notification = reply.json?["signedPayload"]?.string,
      JWSText.payload(of: notification)?["data"]?["signedTransactionInfo"] != nil
    else { throw ConformanceFailure("a refund at the store: its notification") }
    return Self.told(by: notification, of: paid)
  }

  /// Takes a refund back. The result has the transaction as it is signed then, and the store's notification.
  @discardableResult
  func reverseRefund(_ paid: Paid) async throws -> Paid {
    // Of two statements of one millisecond, the one with a refund counts.
    try await Task.sleep(for: .milliseconds(2))
    let reply = try await ask(
      "POST", "store/refunds/reversals", ["transactionID": .string(paid.transactionID)])
    try expect(reply.status == 200, "200 of the store, for the end of a refund")
    return Self.told(by: reply.json?["signedPayload"]?.string, of: paid)
  }

  /// The payment with a notification, and with the transaction in it.
  private static func told(by notification: String?, of paid: Paid) -> Paid {
    var told = paid
    told.notification = notification
    let data = notification.flatMap(JWSText.payload)?["data"]
    told.jws = data?["signedTransactionInfo"]?.string ?? paid.jws
    return told
  }

  /// The payment as the store states it from now on: with these fields of Apple's in place of its own. Null is none.
  func restated(_ paid: Paid, _ fields: [String: JSONValue]) async throws -> Paid {
    let reply = try await ask("PUT", "store/transactions/\(paid.transactionID)/statement", .object(fields))
    guard let jws = reply.json?["signedTransactionInfo"]?.string else {
      throw ConformanceFailure("another statement of the store about a transaction")
    }
    var told = paid
    told.jws = jws
    return told
  }

  /// A notification of the store about a payment as it is now.
  ///
  /// - Parameter query: What is unusual about it, such as `bare=TEST`.
  func notice(of paid: Paid, _ query: String = "") async throws -> String? {
    try await ask("GET", "store/transactions/\(paid.transactionID)/notification?\(query)")
      .json?["signedPayload"]?.string
  }

  /// Charges the next period of a subscription; with a product, an upgrade to it.
  func renew(_ paid: Paid, to product: String? = nil) async throws -> Paid {
    var change: [String: JSONValue] = ["transactionID": .string(paid.transactionID)]
    if let product { change["productID"] = .string(product) }
    // The period begins now. In the millisecond of the one before, both would end at the same time.
    try await Task.sleep(for: .milliseconds(2))
    let reply = try await ask("POST", "store/renewals", .object(change))
    guard let told = reply.json?["transactions"]?.array?.last, let id = told["transactionID"]?.string,
      let jws = told["proof"]?.string
    else { throw ConformanceFailure("a renewal at the store: its transaction") }
    return Paid(
      transactionID: id, productID: product ?? paid.productID, jws: jws,
      notification: reply.json?["signedPayload"]?.string)
  }

  /// The customer turns off the renewal.
  func endRenewal(of paid: Paid) async throws {
    let reply = try await ask(
      "POST", "store/renewal-wishes",
      ["transactionID": .string(paid.transactionID), "willRenew": .bool(false)])
    try expect(reply.status == 200, "200 of the store, for the end of the renewals")
  }

  /// Shares the purchases of a store account with another one.
  func share(of storeAccount: String, with member: String) async throws {
    let reply = try await ask(
      "POST", "store/accounts",
      ["storeAccount": .string(storeAccount), "family": .array([.string(member)])])
    try expect(reply.status == 200, "200 of the store, for a family")
  }

  /// What the store delivers to a store account: the newest transaction of this product.
  func delivered(to storeAccount: String, product: String) async throws -> Paid {
    let reply = try await ask("GET", "store/unfinished?storeAccount=\(storeAccount)")
    let all = reply.json?["transactions"]?.array ?? []
    guard let told = all.last(where: { $0["productID"]?.string == product && $0["proof"] != nil }),
      let id = told["transactionID"]?.string, let jws = told["proof"]?.string
    else { throw ConformanceFailure("a transaction of \(product) that the store delivers") }
    return Paid(transactionID: id, productID: product, jws: jws)
  }

  /// Runs `body` while the clock of the store is ahead of the real one by this many milliseconds.
  func withClock<R: Sendable>(
    movedBy step: Int64, _ body: @Sendable () async throws -> R
  ) async throws -> R {
    try await moveClock(step)
    let result: Result<R, any Error>
    do { result = .success(try await body()) } catch { result = .failure(error) }
    try await moveClock(-step)
    return try result.get()
  }

  private func moveClock(_ step: Int64) async throws {
    let reply = try await ask("POST", "admin/clock", ["milliseconds": .integer(step)])
    try expect(reply.status == 200, "200 of the store, for a move of its clock")
  }

  /// Runs `body` while the store answers no question of the backend.
  ///
  /// - Parameters:
  ///   - questions: The questions that it does not answer.
  ///   - status: What the store says in place of an answer.
  ///   - answer: The body of it.
  func withoutStoreAnswers<R: Sendable>(
    to questions: StoreQuestions = .all, status: Int64 = 503, body answer: JSONValue? = nil,
    _ body: @Sendable () async throws -> R
  ) async throws -> R {
    let rules = questions.paths.map { path -> JSONValue in
      var rule: [String: JSONValue] = [
        "path": .string(path), "fault": "respond", "status": .integer(status), "count": .null,
      ]
      rule["body"] = answer.map { .string($0.text) }
      return .object(rule)
    }
    let plan = try await ask("PUT", "admin/faults", ["rules": .array(rules)])
    try expect(plan.status == 200, "200 of the store, for a plan of faults")
    let result: Result<R, any Error>
    isStoreSilenced = true
    do { result = .success(try await body()) } catch { result = .failure(error) }
    isStoreSilenced = false
    let end = try await ask("DELETE", "admin/faults")
    try expect(end.status == 200, "200 of the store, for the end of its faults")
    return try result.get()
  }

  /// Lets the store post no notifications until `resumeNotifications`: a check posts those that it is about. A backend that
  /// also gets them from the store knows of a refund before the check has looked.
  func pauseNotifications() async {
    let versions = await notifications("GET")
    // After a restart of a store that is also the backend, they are paused again.
    pausedVersions = pausedVersions ?? versions
    await notifications("PUT", ["versions": []])
  }

  /// Lets the store post notifications of the same versions as before.
  func resumeNotifications() async {
    guard let versions = pausedVersions else { return }
    pausedVersions = nil
    await notifications("PUT", ["versions": versions])
  }

  /// Asks for the store's settings, or changes them. Nil without an answer: the checks say that they lack the store.
  @discardableResult
  private func notifications(_ method: String, _ settings: JSONValue? = nil) async -> JSONValue? {
    do {
      return try await ask(method, "store/notifications", settings).json?["versions"]
    } catch {
      return nil
    }
  }

  func ask(_ method: String, _ path: String, _ json: JSONValue? = nil) async throws -> Reply {
    guard let store = site.store else { throw ConformanceFailure("a store") }
    let headers = json == nil ? [:] : ["Content-Type": "application/json"]
    let request = BackendRequest(method: method, path: path, headers: headers, body: json?.data ?? Data())
    return try await exchange(request, over: store, "/" + path + " (store)")
  }
}

/// Which questions of a backend to the store. A path of the mock store's faults is the beginning of those that it means.
enum StoreQuestions {
  case all
  /// About an id, not about a proof.
  case byID

  fileprivate var paths: [String] {
    switch self {
    case .all: ["/store/verify", "/verifyReceipt", "/sandbox/verifyReceipt", "/inApps/"]
    case .byID: ["/store/verify/id", "/inApps/"]
    }
  }
}

/// The text of a JWS, for checks that alter it.
enum JWSText {
  /// The payload; nil if the text is no JWS.
  static func payload(of jws: String) -> JSONValue? { part(1, of: jws) }

  /// The defect that the store has given to it on purpose; nil for none.
  static func defect(of jws: String) -> BrokenProof? {
    (part(0, of: jws)?[BrokenProof.headerMember]?.string).flatMap(BrokenProof.init(rawValue:))
  }

  private static func part(_ index: Int, of jws: String) -> JSONValue? {
    let parts = jws.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let data = Base64URL.decode(parts[index]) else { return nil }
    do throws(ReceiptDecodingError) {
      return try JSONValue(json: data)
    } catch {
      return nil
    }
  }

  /// The JWS with another payload under the same header and signature: the signature is wrong then.
  static func with(_ payload: JSONValue, in jws: String) -> String {
    var parts = jws.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 3 else { return jws }
    parts[1] = Base64URL.encode(payload.data)
    return parts.joined(separator: ".")
  }

  /// The same payload, said to need no signature.
  static func unsigned(_ jws: String) -> String {
    let parts = jws.split(separator: ".", omittingEmptySubsequences: false)
    return Base64URL.encode(Data(#"{"alg":"none"}"#.utf8)) + "." + (parts.count == 3 ? parts[1] : "") + "."
  }
}
