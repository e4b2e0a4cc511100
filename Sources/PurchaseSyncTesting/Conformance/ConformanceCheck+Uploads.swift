import AppStoreReceipts
import Foundation

extension ConformanceCheck {
  /// What an upload grants, and that it grants once.
  static let uploads = [
    ConformanceCheck(name: "upload-granted", promise: "a paid and claimed transaction is granted") { lab in
      let before = try await lab.held(by: .alice)
      let (order, paid) = try await lab.paidOrder()
      let claim = ConformanceLab.claim(paid, order: order.number)
      let word = try await lab.settled(claim, paid.transactionID, proof: ConformanceLab.signed(paid))
      try expect(word == "granted", "granted")
      let after = try await lab.held(by: .alice)
      try expect(after == before + 1, "one more of it in the entitlements: \(before + 1)")
      let state = try await lab.state(of: order.number)
      try expect(state == "delivered", "the order is delivered")
    },
    ConformanceCheck(name: "upload-again", promise: "a repeated upload grants nothing more") {
      lab in
      let (order, paid) = try await lab.paidOrder()
      let claim = ConformanceLab.claim(paid, order: order.number)
      let before = try await lab.held(by: .alice)
      let proof = ConformanceLab.signed(paid)
      _ = try await lab.settled(claim, paid.transactionID, proof: proof)
      for _ in 0..<2 {
        let word = try await lab.settled(claim, paid.transactionID, proof: proof)
        try expect(word == "duplicate", "duplicate")
      }
      let after = try await lab.held(by: .alice)
      try expect(after == before + 1, "one of it, granted once: \(before + 1)")
    },
    ConformanceCheck(name: "parallel-duplicates", promise: "ten simultaneous uploads grant once") { lab in
      let (order, paid) = try await lab.paidOrder()
      let claim = ConformanceLab.claim(paid, order: order.number)
      let before = try await lab.held(by: .alice)
      let words = try await withThrowingTaskGroup(of: String.self) { group in
        for _ in 0..<10 {
          group.addTask {
            try await lab.settled(claim, paid.transactionID, proof: ConformanceLab.signed(paid))
          }
        }
        return try await group.reduce(into: [String]()) { $0.append($1) }
      }
      let granted = words.count { $0 == "granted" }
      try expect(granted == 1, "granted once, duplicate for the others")
      let strange = words.allSatisfy { $0 == "granted" || $0 == "duplicate" }
      try expect(strange, "granted or duplicate")
      let after = try await lab.held(by: .alice)
      try expect(after == before + 1, "one more of it: \(before + 1)")
    },
    ConformanceCheck(name: "verdict-per-claim", promise: "each claim of a receipt gets its own verdict") {
      lab in
      let apple = await lab.unique("apple")
      let (first, one) = try await lab.paidOrder(storeAccount: apple)
      let (second, two) = try await lab.paidOrder(storeAccount: apple)
      let receipt = try await lab.receipt(of: apple)
      let claims = [
        ConformanceLab.claim(one, order: first.number), ConformanceLab.claim(two, order: second.number),
      ]
      let proof: JSONValue = ["kind": "appReceipt", "data": .string(receipt)]
      let reply = try await lab.upload(claims, proof: proof)
      for (paid, claim) in zip([one, two], claims) {
        let word = try await lab.verdict(reply, about: paid.transactionID)
        try expect(word == "granted" || word == "pending", "granted, or pending")
        let end = try await lab.settled(claim, paid.transactionID, proof: proof)
        try expect(end == (word == "granted" ? "duplicate" : "granted"), "granted, once")
      }
    },
    ConformanceCheck(
      name: "proof-per-claim", promise: "claims of one upload rest on proofs of their own, or on none"
    ) { lab in
      let (first, one) = try await lab.paidOrder()
      let (second, two) = try await lab.paidOrder()
      let (third, byID) = try await lab.paidOrder()
      let claims = [
        ConformanceLab.claim(ConformanceLab.claim(one, order: first.number), on: 1),
        ConformanceLab.claim(ConformanceLab.claim(two, order: second.number), on: 0),
        ConformanceLab.claim(byID, order: third.number),
      ]
      let proofs = [ConformanceLab.signed(two), ConformanceLab.signed(one)]
      let reply = try await lab.upload(claims, proofs: proofs)
      for paid in [one, two, byID] {
        let word = try await lab.verdict(reply, about: paid.transactionID)
        try expect(word == "granted" || word == "pending", "granted, or pending")
      }
    },
    ConformanceCheck(
      name: "other-proof", promise: "a proof in the list counts only for the claims that name it"
    ) { lab in
      let (order, paid) = try await lab.paidOrder()
      let (_, other) = try await lab.paidOrder()
      let claim = ConformanceLab.claim(ConformanceLab.claim(paid, order: order.number), on: 0)
      let proofs = [ConformanceLab.signed(other), ConformanceLab.signed(paid)]
      let word = try await lab.verdict(
        try await lab.upload([claim], proofs: proofs), about: paid.transactionID)
      try expect(word == "unknownTransaction" || word == "pending", "unknownTransaction, or pending")
    },
    ConformanceCheck(
      name: "unknown-members", promise: "members and words that a newer client adds are ignored"
    ) { lab in
      let (order, paid) = try await lab.paidOrder()
      var claim = ConformanceLab.claim(paid, order: order.number).object ?? [:]
      claim["proof"] = 0
      claim["evidence"] = "aWordOfALaterVersion"
      claim["ofALaterVersion"] = ["a": [1, 2]]
      var proof = ConformanceLab.signed(paid).object ?? [:]
      proof["ofALaterVersion"] = true
      let upload: JSONValue = [
        "device": .string(UUID().uuidString), "claims": [.object(claim)], "proofs": [.object(proof)],
        "ofALaterVersion": "x",
      ]
      let reply = try await lab.send("POST", "v1/receipts", json: upload)
      let word = try await lab.verdict(reply, about: paid.transactionID)
      try expect(word == "granted" || word == "pending", "granted, or pending")
    },
    ConformanceCheck(name: "partial", promise: "a claim that is not in the proof does not affect the others")
    { lab in
      let (order, paid) = try await lab.paidOrder()
      var stray = paid
      stray.transactionID = "999999999999"
      let reply = try await lab.upload(
        [ConformanceLab.claim(stray), ConformanceLab.claim(paid, order: order.number)],
        proof: ConformanceLab.signed(paid))
      let other = try await lab.verdict(reply, about: stray.transactionID)
      try expect(other == "unknownTransaction" || other == "pending", "unknownTransaction")
      let word = try await lab.verdict(reply, about: paid.transactionID)
      try expect(word == "granted" || word == "pending", "granted, or pending")
      let end = try await lab.settled(
        ConformanceLab.claim(paid, order: order.number), paid.transactionID,
        proof: ConformanceLab.signed(paid))
      try expect(end == (word == "granted" ? "duplicate" : "granted"), "granted, once")
    },
    ConformanceCheck(name: "without-proof", promise: "without a proof the backend asks the store") { lab in
      let (order, paid) = try await lab.paidOrder()
      let claim = ConformanceLab.claim(paid, order: order.number)
      let word = try await lab.settled(claim, paid.transactionID, proof: nil)
      try expect(["granted", "pending", "unknownTransaction"].contains(word), "granted, or not settled")
    },
    ConformanceCheck(name: "proof-forged", promise: "a proof that the store did not sign grants nothing") {
      lab in
      let (order, paid) = try await lab.paidOrder()
      let before = try await lab.held(by: .alice)
      var forged = paid
      let end = paid.jws.hasSuffix("AAAA") ? "BBBB" : "AAAA"
      forged.jws = String(paid.jws.dropLast(4)) + end
      let claim = ConformanceLab.claim(forged, order: order.number)
      let reply = try await lab.upload([claim], proof: ConformanceLab.signed(forged))
      let word = try await lab.verdict(reply, about: paid.transactionID)
      try expect(word == "rejected" || word == "unknownTransaction", "rejected")
      let after = try await lab.held(by: .alice)
      try expect(after == before, "nothing granted: \(before)")
    },
    ConformanceCheck(name: "proof-malformed", promise: "an unreadable proof is rejected, claim by claim") {
      lab in
      let (order, paid) = try await lab.paidOrder()
      let proof: JSONValue = ["kind": "appReceipt", "data": "bm90IGEgcmVjZWlwdA=="]
      // The store answers 21002, which it also does during an outage: a backend may ask again first.
      let claim = ConformanceLab.claim(paid, order: order.number)
      let word = try await lab.settled(claim, paid.transactionID, proof: proof)
      try expect(word == "rejected", "rejected, in the end")
    },
  ]
}
