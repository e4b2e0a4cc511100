import AppStoreReceipts
import Foundation
import PurchaseSync

extension ConformanceCheck {
  private static let made = ConformanceSource.openAPI("POST", "/v1/orders", 201)
  private static let refused = ConformanceSource.openAPI("POST", "/v1/orders", 422)

  /// Texts and numbers of orders that are almost right, or very large.
  static let orderTexts: [ConformanceCheck] = [
    ConformanceCheck(
      "order-product-case", "products are compared with their case", refused, needs: [.product]
    ) {
      lab in
      let product = try await lab.productID()
      let other = product == product.uppercased() ? product.lowercased() : product.uppercased()
      guard other != product else { return }
      let reply = try await lab.make(other, quantity: "1")
      try expect(reply.isRefusal, "a 4xx: \(other) is not sold")
    },
    ConformanceCheck(
      "order-quantity-large", "a quantity of any size is kept, or refused with a 4xx", made, needs: [.product]
    ) { lab in
      let product = try await lab.productID()
      for quantity in ["2147483648", "4294967297", "9223372036854775807", "9223372036854775808", "1e30"] {
        let reply = try await lab.make(product, quantity: quantity)
        guard !reply.isRefusal else { continue }
        try expect(reply.isSuccess, "a 2xx, or a 4xx")
        try expect(reply.json?["quantity"]?.text == quantity, "the quantity \(quantity), or a 4xx")
      }
    },
    ConformanceCheck(
      "order-charset", "a Content-Type with a charset is JSON all the same", made, needs: [.product]
    ) { lab in
      let product = try await lab.productID()
      let reply = try await lab.make(product, quantity: "1", type: "application/json; charset=utf-8")
      try expect(reply.status == 201, "201")
    },
    ConformanceCheck(
      "json-nested", "a body of 100,000 arrays in one another is a 4xx", refused, needs: [.product]
    ) { lab in
      let body = Data(String(repeating: "[", count: 100_000).utf8)
      let headers = ["Idempotency-Key": await lab.unique("key")]
      let order = try await lab.send("POST", "v1/orders", headers: headers, body: body)
      try expect(order.isRefusal, "a 4xx")
      let upload = try await lab.send("POST", "v1/receipts", body: body)
      try expect(upload.isRefusal, "a 4xx")
    },
    ConformanceCheck(
      "text-nul", "a NUL in a text of a claim is a 4xx, or a text that names nothing",
      .openAPI("POST", "/v1/receipts", 400)
    ) { lab in
      let paid = try await lab.pay(token: nil, storeAccount: lab.unique("apple"))
      for (name, value) in [
        ("productID", "a\u{0}b"), ("orderNumber", "a\u{0}b"), ("candidates", ["a\u{0}b"]),
      ] as [(String, JSONValue)] {
        let match = name == "candidates" ? "proposed" : name == "orderNumber" ? "bound" : "none"
        let claim = ConformanceLab.with(
          ConformanceLab.with(ConformanceLab.claim(paid), "match", .string(match)), name, value)
        let reply = try await lab.upload([claim], proof: ConformanceLab.signed(paid))
        try expect(reply.isSuccess || reply.isRefusal, "a 2xx, or a 4xx")
      }
    },
    ConformanceCheck(
      "order-page-limit", "a page has 100 orders at most, whatever the limit is",
      .openAPI("GET", "/v1/orders", 200), needs: [.product]
    ) { lab in
      let product = try await lab.productID()
      for _ in 0..<101 { _ = try await lab.make(product, quantity: "1", as: .bob) }
      let reply = try await lab.send("GET", "v1/orders?limit=100000", as: .bob)
      guard !reply.isRefusal else { return }
      let orders = reply.json?["orders"]?.array
      try expect(orders.map { $0.count <= 100 } ?? false, "100 orders at most")
      try expect(ConformanceLab.present(reply.json, "next") != nil, "a next: there are more")
    },
    ConformanceCheck(
      "register-other-token", "another token under a registered number is a 409",
      .openAPI("PUT", "/v1/orders/{number}", 409), needs: [.product, .accounts]
    ) { lab in
      let number = "device-" + UUID().uuidString
      let order = try await lab.deviceOrder(number)
      let first = try await lab.send("PUT", ConformanceLab.path(of: number), json: order)
      try expect(first.isSuccess, "a 2xx for the first registration")
      let other = ConformanceLab.with(order, "accountToken", .string(UUID().uuidString))
      let reply = try await lab.send("PUT", ConformanceLab.path(of: number), json: other)
      try expect(reply.status == 409, "409")
    },
  ]
}

extension ConformanceLab {
  /// Asks for an order whose quantity is written like this.
  fileprivate func make(
    _ product: String, quantity: String, type: String? = nil, as caller: Caller = .alice
  ) async throws -> Reply {
    let body = #"{"productID":\#(JSONValue.string(product).text),"quantity":\#(quantity)}"#
    var headers = ["Idempotency-Key": unique("key")]
    headers["Content-Type"] = type
    return try await send("POST", "v1/orders", as: caller, headers: headers, body: Data(body.utf8))
  }
}
