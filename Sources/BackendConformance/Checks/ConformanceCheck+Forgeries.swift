import AppStoreReceipts
import Foundation
import PurchaseSyncTesting

extension ConformanceCheck {
  private static let verdicts = ConformanceSource.yourBackend("Verdicts")
  private static let receipts = ConformanceSource.openAPI("POST", "/v1/receipts", 403)

  /// Proofs that the store did not issue.
  static let forgeries: [ConformanceCheck] = [
    ConformanceCheck("proof-forged", "a proof with a wrong signature grants nothing", verdicts) { lab in
      try await lab.refuses { paid in
        let end = paid.jws.hasSuffix("AAAA") ? "BBBB" : "AAAA"
        paid.jws = String(paid.jws.dropLast(4)) + end
      }
    },
    ConformanceCheck("proof-tampered", "a proof with a changed payload grants nothing", verdicts) { lab in
      try await lab.refuses { paid in
        let payload = JWSText.payload(of: paid.jws) ?? .null
        paid.jws = JWSText.with(ConformanceLab.with(payload, "transactionId", "888888888888"), in: paid.jws)
        paid.transactionID = "888888888888"
      }
    },
    ConformanceCheck(
      "proof-unsigned", "a proof that says that it needs no signature grants nothing", verdicts
    ) { lab in
      try await lab.refuses { paid in paid.jws = JWSText.unsigned(paid.jws) }
    },
    ConformanceCheck(
      "proof-malformed", "an unreadable proof is rejected, claim by claim", .yourBackend("The 21002 rule")
    ) { lab in
      let (order, paid) = try await lab.paidOrder()
      let proof: JSONValue = ["kind": "appReceipt", "data": "bm90IGEgcmVjZWlwdA=="]
      // The store answers 21002, which it also does during an outage: a backend may ask again first.
      let claim = ConformanceLab.claim(paid, order: order.number)
      let word = try await lab.settled(claim, paid.transactionID, proof: proof)
      try expect(word == "rejected", "rejected, in the end")
    },
    ConformanceCheck(
      "id-alone", "an id without a proof grants nothing, unless the store names the owner",
      .yourBackend("A claim without a proof")
    ) { lab in
      let paid = try await lab.pay(token: nil, storeAccount: lab.unique("apple"))
      let bobs = try await lab.order(as: .bob)
      let before = try await lab.held(by: .bob)
      let device = UUID()
      let guesses: [(ConformanceLab.Caller, String?)] = [
        (.bob, nil), (.bob, bobs.number), (.device(device), nil),
      ]
      for (caller, order) in guesses {
        let claim = ConformanceLab.claim(paid, order: order)
        let reply = try await lab.upload([claim], proof: nil, as: caller, device: device)
        let word = try await lab.verdict(reply, about: paid.transactionID)
        try expect(word == "unknownTransaction" || word == "pending", "unknownTransaction: a proof is needed")
      }
      let after = try await lab.held(by: .bob)
      try expect(after == before, "nothing for an account that only names the id: \(before)")
      let word = try await lab.settled(paid)
      try expect(word == "granted", "granted to the account that has the proof")
    },
  ]

  /// What other accounts and devices must not see or do.
  static let strangers: [ConformanceCheck] = [
    ConformanceCheck(
      "order-private", "another account's order cannot be read", .openAPI("GET", "/v1/orders/{number}", 403),
      needs: [.product]
    ) { lab in
      let order = try await lab.order()
      let own = try await lab.send("GET", ConformanceLab.path(of: order.number))
      try expect(own.status == 200, "200 for its owner")
      let reply = try await lab.send("GET", ConformanceLab.path(of: order.number), as: .bob)
      try expect(reply.status == 403 || reply.status == 404, "403")
    },
    ConformanceCheck(
      "order-not-listed", "another account's orders are not listed", .openAPI("GET", "/v1/orders", 200),
      needs: [.product]
    ) { lab in
      let order = try await lab.order()
      let listed = try await lab.listedItems("state=open", as: .bob)
      try expect(
        !listed.contains { $0["number"]?.string == order.number }, "only orders of the account that asks")
    },
    ConformanceCheck(
      "order-not-ended", "another account cannot cancel or defer an order",
      .openAPI("POST", "/v1/orders/{number}/cancel", 403), needs: [.product]
    ) { lab in
      let order = try await lab.order()
      for action in ["cancel", "defer"] {
        let reply = try await lab.send("POST", ConformanceLab.path(of: order.number, action), as: .bob)
        try expect(reply.status == 403 || reply.status == 404, "403")
      }
      let state = try await lab.state(of: order.number)
      try expect(state == "open", "the order is still open")
    },
    ConformanceCheck(
      "order-not-registered", "an account cannot register an order of another one",
      .openAPI("PUT", "/v1/orders/{number}", 403), needs: [.product, .accounts]
    ) { lab in
      let number = "device-" + UUID().uuidString
      let reply = try await lab.send(
        "PUT", ConformanceLab.path(of: number), json: try await lab.deviceOrder(number, ofOther: true))
      try expect(reply.isRefusal, "403")
    },
    ConformanceCheck(
      "entitlements-private", "an account sees only its own entitlements",
      .openAPI("GET", "/v1/entitlements", 200)
    ) { lab in
      let before = try await lab.held(by: .bob)
      _ = try await lab.grantedOrder()
      let after = try await lab.held(by: .bob)
      try expect(after == before, "nothing new for the other account: \(before)")
    },
    ConformanceCheck("device-secret", "a device that is known with another secret is refused", receipts) {
      lab in
      let device = UUID()
      let paid = try await lab.grantedToDevice(device)
      let reply = try await lab.upload(
        [ConformanceLab.claim(paid)], proof: ConformanceLab.signed(paid), as: .thief(device), device: device)
      try expect(reply.status == 403, "403")
    },
    ConformanceCheck(
      "device-mismatch", "a device uploads only in its own name", .openAPI("POST", "/v1/receipts", 422),
      needs: []
    ) { lab in
      let paid = ConformanceLab.Paid(transactionID: "1", productID: "x", jws: "a.b.c")
      let reply = try await lab.upload(
        [ConformanceLab.claim(paid)], proof: ConformanceLab.signed(paid), as: .device(UUID()), device: UUID())
      try expect(reply.isRefusal, "a 4xx")
    },
    ConformanceCheck(
      "adoption-credentials", "an adoption needs the credentials of the device and of the account",
      .openAPI("POST", "/v1/adoptions", 401)
    ) { lab in
      let device = UUID()
      try await lab.grantedToDevice(device)
      let before = try await lab.held(by: .bob)
      let callers = [ConformanceLab.Caller.bob, .device(device), .deviceOfBob(UUID()), .thiefOfBob(device)]
      for caller in callers {
        let reply = try await lab.adopt(device, as: caller)
        try expect(reply.isRefusal, "a 4xx")
      }
      let after = try await lab.held(by: .bob)
      try expect(after == before, "nothing for the account: \(before)")
    },
    ConformanceCheck(
      "signed-in-refused", "a wrong token beside a device's credential is a 403 of the type account", receipts
    ) { lab in
      let device = UUID()
      let paid = try await lab.pay(token: nil, storeAccount: lab.unique("apple"))
      let reply = try await lab.upload(
        [ConformanceLab.claim(paid)], proof: ConformanceLab.signed(paid),
        as: .deviceWithToken(device, lab.unique("wrong")), device: device)
      try expect(reply.status == 403, "403")
      try expect(reply.json?["type"]?.string == "account", "the type account")
    },
  ]
}

extension ConformanceLab {
  /// Uploads a paid transaction with an altered proof, which must not be granted.
  func refuses(_ alter: @Sendable (inout Paid) -> Void) async throws {
    let (order, paid) = try await paidOrder()
    let before = try await held(by: .alice)
    var forged = paid
    alter(&forged)
    let claim = Self.claim(forged, order: order.number)
    let reply = try await upload([claim], proof: Self.signed(forged))
    let word = try verdict(reply, about: forged.transactionID)
    try expect(word == "rejected" || word == "unknownTransaction", "rejected")
    let after = try await held(by: .alice)
    try expect(after == before, "nothing granted: \(before)")
  }
}
