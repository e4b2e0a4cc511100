import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync

/// Answers two of three requests by itself while it is hostile: odd numbers, texts, states, lengths and statuses, and
/// nothing that settles a purchase.
struct OddBackend: BackendTransport {
  let inner: any BackendTransport
  let dice: Dice
  let isHostile: Locked<Bool>
  private let tokens = [UUID(), UUID()]

  init(inner: any BackendTransport, dice: Dice, isHostile: Locked<Bool>) {
    (self.inner, self.dice, self.isHostile) = (inner, dice, isHostile)
  }

  func send(_ request: BackendRequest) async throws(TransportError) -> BackendResponse {
    guard isHostile.value, dice.pick(3) > 0 else { return try await inner.send(request) }
    if dice.pick(6) == 0 {
      let kinds: [TransportError.Kind] = [
        .noAnswer, .cancelled, .timedOut, .tooLong, .unsendable, .unverified,
      ]
      throw TransportError(dice.one(of: kinds), reason: "x")
    }
    var body = body(for: request)
    if dice.pick(8) == 0 { body = String(body.prefix(dice.pick(body.count + 1))) }
    if dice.pick(6) == 0 {
      let type = dice.one(of: ["auth", "account", "device", "protocol", "about:blank"])
      body = #"{"type":"\#(type)","title":"t","status":400}"#
    }
    return BackendResponse(
      status: dice.one(of: Self.statuses), retryAfter: dice.one(of: Self.pauses),
      date: dice.one(of: [nil, "Thu, 01 Jan 1970 00:00:00 GMT", "x"]),
      contentType: dice.one(of: [nil, "application/json", "application/problem+json", "text/html", ""]),
      body: Data(body.utf8))
  }

  private static let statuses = [
    200, 200, 200, 200, 201, 204, 301, 400, 401, 403, 404, 408, 409, 413, 422, 425, 429, 500, 503, 0, -1, 999,
  ]
  private static let pauses = [
    nil, "1", "99999999999999999999", "-1", "Thu, 01 Jan 1970 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT",
    "Sun Nov  6 08:49:37 1994", "Wed, 25 Nov 2026 12:00:00 +0200",
  ]
  private static let numbers = [
    "0", "-1", "9223372036854775807", "-9223372036854775808", "1e308", "1e400", "null", "\"x\"",
    "1767225600000",
  ]

  private func number() -> String { dice.one(of: Self.numbers) }

  /// A text in JSON.
  private func text() -> String {
    let long = String(repeating: "n", count: dice.one(of: [255, 300, 9_000]))
    return Self.json(
      dice.one(of: ["", "..", ".", "a/b?c#d", "1", "2", "a\u{0}b", "e\u{301}", "\u{e9}", long]))
  }

  private static func json(_ text: String) -> String {
    let escaped = text.unicodeScalars.map { $0.value < 32 ? "\\u000\($0.value % 10)" : String($0) }
    return "\"" + escaped.joined() + "\""
  }

  private func body(for request: BackendRequest) -> String {
    if request.path.hasPrefix("v1/receipts") { return reply(to: request) }
    guard request.path.hasPrefix("v1/orders") else { return dice.one(of: ["", "{}", "[]", "null"]) }
    let order = order(for: request)
    let isList = request.method == "GET" && !request.path.contains("orders/")
    return isList ? #"{"orders":[\#(order),\#(order)],"next":\#(text())}"# : order
  }

  private func order(for request: BackendRequest) -> String {
    var wish = OrderRequest(productID: "gems", quantity: 1)
    if let asked = decode(OrderRequest.self, request.body) { wish = asked }
    let states = ["open", "open", "open", "paid", "expired", "cancelled", "alreadyOwned", "zzz", ""]
    return """
      {"number":\(text()),"accountToken":"\(dice.one(of: tokens + [UUID()]).uuidString)",
       "productID":\(Self.json(wish.productID)),"quantity":\(wish.quantity),
       "state":\(Self.json(dice.one(of: states))),"createdAt":\(number()),"expiresAt":\(number())}
      """
  }

  private func reply(to request: BackendRequest) -> String {
    var verdicts: [String] = []
    for claim in decode(UploadRequest.self, request.body)?.claims ?? [] {
      // None of them settles: the purchase must survive.
      let word = dice.one(of: ["pending", "unknownTransaction", "rejected", "zzz", "", "\u{0}"])
      let environment = dice.one(of: [claim.environment, claim.environment, "Sandbox", ""])
      let transaction = dice.one(of: [claim.transactionID, claim.transactionID, "7"])
      let order = dice.one(of: ["null", text()])
      let owner = dice.one(of: ["null", "\"yours\"", "\"zzz\""])
      verdicts.append(
        """
        {"environment":\(Self.json(environment)),"transactionID":\(Self.json(transaction)),
         "verdict":\(Self.json(word)),"orderNumber":\(order),"retryAfter":\(number()),"owner":\(owner),
         "reason":\(text())}
        """)
    }
    if dice.pick(3) == 0 { verdicts += verdicts }
    let epoch = dice.one(of: [Self.json("e"), Self.json("f"), Self.json(""), text()])
    return #"{"ledgerEpoch":\#(epoch),"verdicts":[\#(verdicts.joined(separator: ","))]}"#
  }

  private func decode<Document: Decodable>(_ type: Document.Type, _ body: Data) -> Document? {
    do {
      return try JSONDecoder().decode(type, from: body)
    } catch {
      return nil  // A request without such a body, such as a list's.
    }
  }
}
