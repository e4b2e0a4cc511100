import AppStoreReceipts
import Foundation
import PurchaseSync
import PurchaseSyncTesting

extension ConformanceCheck {
  private static let receipts = ConformanceSource.openAPI("POST", "/v1/receipts", 200)
  private static let invalid = ConformanceSource.openAPI("POST", "/v1/receipts", 422)
  private static let read = ConformanceSource.openAPI("GET", "/v1/orders/{number}", 403)
  private static let unauthorized = ConformanceSource.openAPI("GET", "/v1/entitlements", 401)
  private static let document = ConformanceSource.yourBackend("The HTTP protocol")

  /// Texts that are written in several ways, and words that a later version has.
  static let texts: [ConformanceCheck] = [
    ConformanceCheck("null-members", "a member that is null is one that is absent", receipts) { lab in
      let (order, paid) = try await lab.paidOrder()
      var claim = ConformanceLab.claim(paid, order: order.number)
      for name in ["originalTransactionID", "candidates", "evidence", "unverified", "order"] {
        claim = ConformanceLab.with(claim, name, .null)
      }
      let reply = try await lab.upload([claim], proof: ConformanceLab.signed(paid))
      let word = try await lab.verdict(reply, about: paid.transactionID)
      try expect(word == "granted" || word == "pending", "granted, or pending")
    },
    ConformanceCheck("null-order-number", "a claim of no order may have null as its orderNumber", receipts) {
      lab in
      let paid = try await lab.pay(token: nil, storeAccount: lab.unique("apple"))
      let claim = ConformanceLab.with(ConformanceLab.claim(paid), "orderNumber", .null)
      let word = try await lab.settled(claim, paid.transactionID, proof: ConformanceLab.signed(paid))
      try expect(word == "granted", "granted")
    },
    ConformanceCheck("null-proofs", "an upload without proofs may have null in their place", receipts) {
      lab in
      let (order, paid) = try await lab.paidOrder()
      let claim = ConformanceLab.with(ConformanceLab.claim(paid, order: order.number), "proof", .null)
      let reply = try await lab.send(
        "POST", "v1/receipts",
        json: ["device": .string(UUID().uuidString), "claims": [claim], "proofs": .null])
      try expect(reply.status == 200, "200")
    },
    ConformanceCheck("uuid-case", "a device's name is the same in small letters and in capitals", receipts) {
      lab in
      let device = UUID()
      let paid = try await lab.pay(token: nil, storeAccount: lab.unique("apple"))
      let claim = ConformanceLab.with(ConformanceLab.claim(paid), "proof", 0)
      for name in [device.uuidString.lowercased(), device.uuidString] {
        let reply = try await lab.send(
          "POST", "v1/receipts", as: .device(device),
          json: ["device": .string(name), "claims": [claim], "proofs": [ConformanceLab.signed(paid)]])
        let word = try await lab.verdict(reply, about: paid.transactionID)
        try expect(["granted", "duplicate", "pending"].contains(word), "granted, or duplicate")
      }
    },
    ConformanceCheck(
      "uuid-case-credential", "a device's credential is the same with its name in small letters", receipts
    ) { lab in
      let device = UUID()
      let paid = try await lab.grantedToDevice(device)
      let small = "Device \(device.uuidString.lowercased()):\(device.uuidString)"
      let reply = try await lab.upload(
        [ConformanceLab.claim(paid)], proof: ConformanceLab.signed(paid), as: .header(small), device: device)
      let word = try await lab.verdict(reply, about: paid.transactionID)
      try expect(word == "duplicate" || word == "pending", "duplicate")
    },
    ConformanceCheck(
      "uuid-case-adoption", "an adoption may name its device in small letters",
      .openAPI("POST", "/v1/adoptions", 200)
    ) { lab in
      let device = UUID()
      try await lab.grantedToDevice(device)
      try await lab.gaining(1) {
        let reply = try await lab.send(
          "POST", "v1/adoptions", as: .deviceOfAlice(device),
          json: ["device": .string(device.uuidString.lowercased())])
        try expect(reply.isSuccess, "a 2xx")
      }
    },
    ConformanceCheck(
      "scheme-case", "the schemes of credentials are the same in small letters (RFC 9110 11.1)", unauthorized,
      needs: []
    ) { lab in
      for scheme in ["bearer", "BEARER"] {
        let header = scheme + " " + lab.site.tokens.alice
        let reply = try await lab.send("GET", "v1/entitlements", as: .header(header))
        try expect(reply.status == 200, "200 for \(scheme)")
      }
    },
    ConformanceCheck(
      "scheme-other", "credentials of another scheme, or a changed token, are a 401", unauthorized, needs: []
    ) { lab in
      let token = lab.site.tokens.alice
      for (what, header) in [
        ("Basic", "Basic " + token), ("no scheme", token), ("no token", "Bearer"),
        ("Token", "Token " + token),
      ] {
        let reply = try await lab.send("GET", "v1/entitlements", as: .header(header))
        try expect(reply.status == 401 || reply.status == 403 || reply.status == 400, "401 for \(what)")
      }
    },
    ConformanceCheck(
      "device-no-account", "a device's credential reads and makes nothing of an account", unauthorized,
      needs: []
    ) { lab in
      let device = UUID()
      for path in ["v1/orders", "v1/entitlements"] {
        let reply = try await lab.send("GET", path, as: .device(device))
        try expect(reply.status == 401 || reply.status == 403, "401")
      }
      let order = try await lab.send(
        "POST", "v1/orders", as: .device(device), headers: ["Idempotency-Key": lab.unique("key")],
        json: ["productID": "x", "quantity": 1])
      try expect(order.isRefusal, "a 4xx")
    },
    ConformanceCheck(
      "forbidden-silent", "the refusal of another account's order says nothing about the order", read,
      needs: [.product]
    ) { lab in
      let (order, product) = (try await lab.order(), try await lab.productID())
      let secrets = [order.token.lowercased(), product.lowercased(), lab.site.accounts?.alice]
      for (method, action) in [("GET", nil), ("POST", "cancel"), ("POST", "defer")] {
        let path = ConformanceLab.path(of: order.number, action)
        let text = try await lab.send(method, path, as: .bob).json?.text.lowercased() ?? ""
        for secret in secrets.compactMap(\.self) {
          try expect(!text.contains(secret), "neither token nor product nor account in the answer")
        }
      }
    },
    ConformanceCheck(
      "forbidden-type", "the refusal of another account's order is not of the type auth", read,
      needs: [.product]
    ) { lab in
      let order = try await lab.order()
      let reply = try await lab.send("GET", ConformanceLab.path(of: order.number), as: .bob)
      try expect(reply.isRefusal, "a 4xx")
      // Else the app would ask for new credentials, which are no better.
      try expect(
        reply.status != 401 && reply.json?["type"]?.string != "auth", "403, of another type than auth")
    },
    ConformanceCheck("proof-kind", "a proof of a kind of a later version refuses its claim alone", receipts) {
      lab in
      let (order, paid) = try await lab.paidOrder()
      let later = try await lab.pay(token: nil, storeAccount: lab.unique("apple"))
      let claims = [
        ConformanceLab.with(ConformanceLab.claim(later), "proof", 0),
        ConformanceLab.with(ConformanceLab.claim(paid, order: order.number), "proof", 1),
      ]
      let odd: JSONValue = ["kind": "aKindOfALaterVersion", "data": "eA=="]
      let reply = try await lab.upload(claims, proofs: [odd, ConformanceLab.signed(paid)])
      let word = try await lab.verdict(reply, about: paid.transactionID)
      try expect(word == "granted" || word == "pending", "granted, or pending, for the other claim")
      let refused = try await lab.verdict(reply, about: later.transactionID)
      try expect(
        ["rejected", "pending", "unknownTransaction"].contains(refused), "no grant for the unknown kind")
    },
    ConformanceCheck("proof-unused", "a proof that no claim names is ignored", receipts) { lab in
      let (order, paid) = try await lab.paidOrder()
      let claim = ConformanceLab.with(ConformanceLab.claim(paid, order: order.number), "proof", 1)
      let garbage: JSONValue = ["kind": "signedTransaction", "data": "no proof at all"]
      let reply = try await lab.upload([claim], proofs: [garbage, ConformanceLab.signed(paid)])
      let word = try await lab.verdict(reply, about: paid.transactionID)
      try expect(word == "granted" || word == "pending", "granted, or pending")
    },
    ConformanceCheck("match-word", "a match of a later version is no reason to refuse a claim", receipts) {
      lab in
      let (_, paid) = try await lab.paidOrder()
      let claim = ConformanceLab.with(ConformanceLab.claim(paid), "match", "aMatchOfALaterVersion")
      let word = try await lab.settled(claim, paid.transactionID, proof: ConformanceLab.signed(paid))
      try expect(word == "granted", "granted: the token names the order")
    },
    ConformanceCheck(
      "environment-word", "an environment of a later version in a claim is a hint, and no reason to refuse",
      receipts
    ) { lab in
      let (order, paid) = try await lab.paidOrder()
      let claim = ConformanceLab.with(
        ConformanceLab.claim(paid, order: order.number), "environment", "APlaceOfALaterVersion")
      let word = try await lab.settled(claim, paid.transactionID, proof: ConformanceLab.signed(paid))
      try expect(word == "granted", "granted")
    },
    ConformanceCheck(
      "claim-time", "the time in a claim is the device's word: any is granted", receipts
    ) { lab in
      for time in [0, -1, 253_402_300_799_000] as [JSONValue] {
        let paid = try await lab.pay(token: nil, storeAccount: lab.unique("apple"))
        let claim = ConformanceLab.with(ConformanceLab.claim(paid), "purchasedAt", time)
        let word = try await lab.settled(claim, paid.transactionID, proof: ConformanceLab.signed(paid))
        try expect(word == "granted", "granted, with a purchasedAt of \(time.text)")
      }
    },
    ConformanceCheck(
      "unverified-flag", "a claim that the device could not verify is judged by its proof", receipts
    ) { lab in
      let (order, paid) = try await lab.paidOrder()
      let claim = ConformanceLab.with(
        ConformanceLab.claim(paid, order: order.number), "unverified", .bool(true))
      let word = try await lab.settled(claim, paid.transactionID, proof: ConformanceLab.signed(paid))
      try expect(word == "granted", "granted")
    },
  ]

  /// Claims that lack something, each with what is wrong about it.
  static let badClaims: [ConformanceCheck] = ClaimDefect.all.map { defect in
    ConformanceCheck("claim-" + defect.word, "a claim \(defect.what) is a 4xx", invalid, needs: []) { lab in
      let paid = ConformanceLab.Paid(transactionID: "1", productID: "x", jws: "a.b.c")
      let reply = try await lab.upload(
        [ConformanceLab.with(ConformanceLab.claim(paid), defect.member, defect.value)],
        proof: ConformanceLab.signed(paid))
      try expect(reply.isRefusal, "a 4xx")
    }
  }
}
