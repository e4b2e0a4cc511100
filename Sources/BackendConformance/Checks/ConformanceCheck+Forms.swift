import AppStoreReceipts
import Foundation
import PurchaseSync
import PurchaseSyncTesting

extension ConformanceCheck {
  private static let receipts = ConformanceSource.openAPI("POST", "/v1/receipts", 200)
  private static let held = ConformanceSource.openAPI("GET", "/v1/entitlements", 200)
  private static let order = "/v1/orders/{number}"

  /// Answers as the OpenAPI document describes them: types, times and texts.
  static let answers: [ConformanceCheck] = [
    ConformanceCheck(
      "form-order", "each answer about one order has the members and types of the document",
      .openAPI("POST", "/v1/orders", 201), needs: [.product]
    ) { lab in
      let (product, key) = (try await lab.productID(), await lab.unique("key"))
      let made = try await lab.makeOrder(key: key, ["productID": .string(product), "quantity": 2])
      try documented(made, "POST", "/v1/orders")
      let number = made.json?["number"]?.string ?? ""
      try documented(try await lab.send("GET", ConformanceLab.path(of: number)), "GET", order)
      for action in ["defer", "cancel"] {
        let reply = try await lab.send("POST", ConformanceLab.path(of: number, action))
        try documented(reply, "POST", order + "/" + action)
      }
    },
    ConformanceCheck(
      "form-orders", "a list of orders has the members and types of the document",
      .openAPI("GET", "/v1/orders", 200), needs: [.product]
    ) { lab in
      for _ in 0..<2 { _ = try await lab.order() }
      for query in ["?limit=1", "?state=open", "?state=expired"] {
        try documented(try await lab.send("GET", "v1/orders" + query), "GET", "/v1/orders")
      }
    },
    ConformanceCheck(
      "form-verdicts", "each verdict has the members and types of the document", receipts
    ) { lab in
      let (order, paid) = try await lab.paidOrder(quantity: 2)
      let stray = ConformanceLab.Paid(transactionID: "999999999997", productID: paid.productID, jws: paid.jws)
      let claims = [ConformanceLab.claim(paid, order: order.number), ConformanceLab.claim(stray)]
      for _ in 0..<2 {
        let reply = try await lab.upload(claims, proof: ConformanceLab.signed(paid))
        try documented(reply, "POST", "/v1/receipts")
      }
      let refunded = try await lab.refund(paid, units: 1)
      for caller in [ConformanceLab.Caller.alice, .bob] {
        let reply = try await lab.upload(claims, proof: ConformanceLab.signed(refunded), as: caller)
        try documented(reply, "POST", "/v1/receipts")
      }
    },
    ConformanceCheck(
      "form-entitlements", "entitlements have the members and types of the document", held
    ) { lab in
      _ = try await lab.grantedOrder()
      _ = try await lab.grantedOrder(product: try await lab.plans().lower)
      try documented(try await lab.send("GET", "v1/entitlements"), "GET", "/v1/entitlements")
    },
    ConformanceCheck(
      "form-adoption", "the answer to an adoption has the members and types of the document",
      .openAPI("POST", "/v1/adoptions", 200)
    ) { lab in
      let device = UUID()
      try await lab.grantedToDevice(device)
      let reply = try await lab.adopt(device, as: .deviceOfAlice(device))
      try documented(reply, "POST", "/v1/adoptions")
    },
    ConformanceCheck(
      "form-problems", "a problem document has type, title and the status of its answer",
      .openAPI("GET", "/v1/orders/{number}", 404), needs: []
    ) { lab in
      let paid = ConformanceLab.Paid(transactionID: "1", productID: "x", jws: "a.b.c")
      let replies = [
        try await lab.send("GET", ConformanceLab.path(of: await lab.unique("no-such"))),
        try await lab.send("POST", "v1/receipts", json: ["device": "x"]),
        try await lab.upload([], proof: ConformanceLab.signed(paid)),
      ]
      for reply in replies {
        try expect(reply.isRefusal, "a 4xx")
        try expect(reply.json?["status"] == .integer(Int64(reply.status)), "the status \(reply.status) in it")
        for name in ["type", "title"] { try expect(reply.json?[name]?.string != nil, "a \(name)") }
      }
    },
    ConformanceCheck(
      "entitlement-end", "the end of a subscription is that of its proof, in milliseconds", held
    ) { lab in
      let plan = try await lab.plans().lower
      let (_, paid) = try await lab.grantedOrder(product: plan)
      guard let end = JWSText.payload(of: paid.jws)?["expiresDate"] else {
        throw ConformanceFailure("an expiresDate of the store")
      }
      let ends = try await lab.entitlements(of: plan, by: .alice).compactMap { $0["expiresAt"] }
      try expect(ends.contains(end), "the expiresAt \(end.text)")
    },
    ConformanceCheck(
      "entitlement-place", "an entitlement names the environment of its proof, if it names one", held
    ) { lab in
      let plan = try await lab.plans().lower
      let (_, paid) = try await lab.grantedOrder(product: plan)
      let end = JWSText.payload(of: paid.jws)?["expiresDate"]
      for item in try await lab.entitlements(of: plan, by: .alice) where item["expiresAt"] == end {
        if let place = ConformanceLab.present(item, "environment") {
          try expect(place.string == paid.environment, "the environment \(paid.environment)")
        }
        if let isFree = ConformanceLab.present(item, "sandbox") {
          let expected = paid.environment != ConformanceLab.Paid.production
          try expect(isFree == .bool(expected), "sandbox: \(expected)")
        }
      }
    },
    ConformanceCheck(
      "retry-after-seconds", "a retryAfter is in seconds: for a store that does not answer, an hour at most",
      receipts
    ) { lab in
      let (order, paid) = try await lab.paidOrder()
      let claim = ConformanceLab.claim(paid, order: order.number)
      let reply = try await lab.withoutStoreAnswers { try await lab.upload([claim], proof: nil) }
      guard reply.status == 200 else { return }
      switch ConformanceLab.present(try await lab.told(reply, about: paid.transactionID), "retryAfter") {
      case nil: return
      case .integer(let seconds)?: try expect((0...3_600).contains(seconds), "0 to 3600 seconds")
      case .number(let text)?: try expect((0...3_600).contains(Double(text) ?? -1), "0 to 3600 seconds")
      default: throw ConformanceFailure("a number of seconds")
      }
    },
  ]

  /// Throws unless the answer is as the document says.
  private static func documented(
    _ reply: ConformanceLab.Reply, _ method: String, _ path: String
  ) throws {
    try expect(reply.isSuccess, "a 2xx")
    let document: JSONValue
    do throws(ReceiptDecodingError) {
      document = try JSONValue(json: OpenAPIDocument.json)
    } catch {
      throw ConformanceFailure("a document: \(error)")
    }
    let faults = SchemaCheck(document: document, takesMore: true)
      .faults(in: reply.json ?? .null, to: method, path, reply.status)
    try expect(faults.isEmpty, "an answer as in the document; " + faults.prefix(3).joined(separator: "; "))
  }
}
