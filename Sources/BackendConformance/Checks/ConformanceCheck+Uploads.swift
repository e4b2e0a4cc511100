import AppStoreReceipts
import Foundation
import PurchaseSyncTesting

extension ConformanceCheck {
  private static let verdicts = ConformanceSource.yourBackend("Verdicts")
  private static let overview = ConformanceSource.yourBackend("Overview")
  private static let answer = ConformanceSource.openAPI("POST", "/v1/receipts", 200)

  /// What an upload grants, and that it grants once.
  static let uploads: [ConformanceCheck] = [
    ConformanceCheck("upload-granted", "a paid and claimed transaction is granted", verdicts) { lab in
      let before = try await lab.held(by: .alice)
      let (order, _) = try await lab.grantedOrder()
      let after = try await lab.held(by: .alice)
      try expect(after == before + 1, "one more of it in the entitlements: \(before + 1)")
      let state = try await lab.state(of: order.number)
      try expect(state == "delivered", "the order is delivered")
    },
    ConformanceCheck("upload-quantity", "the paid quantity is credited", verdicts) { lab in
      let before = try await lab.held(by: .alice)
      let (order, paid) = try await lab.paidOrder(quantity: 3)
      let word = try await lab.settled(paid, order: order.number)
      try expect(word == "granted", "granted")
      let after = try await lab.held(by: .alice)
      try expect(after == before + 3, "three more of it: \(before + 3)")
    },
    ConformanceCheck("upload-again", "a repeated upload is a duplicate, and grants nothing", overview) {
      lab in
      let before = try await lab.held(by: .alice)
      let (order, paid) = try await lab.grantedOrder()
      for _ in 0..<2 {
        let word = try await lab.settled(paid, order: order.number)
        try expect(word == "duplicate", "duplicate")
      }
      let after = try await lab.held(by: .alice)
      try expect(after == before + 1, "one of it, granted once: \(before + 1)")
    },
    ConformanceCheck("upload-other-proof", "another proof of a credited transaction grants nothing", overview)
    { lab in
      let apple = await lab.unique("apple")
      let before = try await lab.held(by: .alice)
      let (order, paid) = try await lab.paidOrder(storeAccount: apple)
      let receipt = try await lab.receipt(of: apple)
      let word = try await lab.settled(paid, order: order.number)
      try expect(word == "granted", "granted")
      let claim = ConformanceLab.claim(paid, order: order.number)
      let again = try await lab.settled(claim, paid.transactionID, proof: receipt)
      try expect(again == "duplicate", "duplicate, for the same transaction in an app receipt")
      let after = try await lab.held(by: .alice)
      try expect(after == before + 1, "one of it, granted once: \(before + 1)")
    },
    ConformanceCheck(
      "upload-claim-twice", "two claims of one upload about one transaction grant once", overview
    ) { lab in
      let (order, paid) = try await lab.paidOrder()
      let before = try await lab.held(by: .alice)
      let claim = ConformanceLab.claim(paid, order: order.number)
      let reply = try await lab.upload([claim, claim], proof: ConformanceLab.signed(paid))
      _ = try await lab.verdict(reply, about: paid.transactionID)
      _ = try await lab.settled(paid, order: order.number)
      let after = try await lab.held(by: .alice)
      try expect(after == before + 1, "one more of it: \(before + 1)")
    },
    ConformanceCheck(
      "upload-receipt-only", "the form with only a receipt grants what its tokens name", answer
    ) { lab in
      let before = try await lab.held(by: .alice)
      let (order, paid) = try await lab.paidOrder()
      let reply = try await lab.send(
        "POST", "v1/receipts",
        json: ["receipt-data": .string(paid.jws), "uuid": .string(UUID().uuidString)])
      try expect(reply.status == 200, "200")
      let word = try await lab.settled(paid, order: order.number)
      try expect(word == "granted" || word == "duplicate", "granted, then or before")
      let after = try await lab.held(by: .alice)
      try expect(after == before + 1, "one more of it: \(before + 1)")
    },
    ConformanceCheck("verdict-per-claim", "each claim of a receipt gets its own verdict", answer) { lab in
      let apple = await lab.unique("apple")
      let (first, one) = try await lab.paidOrder(storeAccount: apple)
      let (second, two) = try await lab.paidOrder(storeAccount: apple)
      let claims = [
        ConformanceLab.claim(one, order: first.number), ConformanceLab.claim(two, order: second.number),
      ]
      let proof = try await lab.receipt(of: apple)
      let reply = try await lab.upload(claims, proof: proof)
      for (paid, claim) in zip([one, two], claims) {
        let word = try await lab.verdict(reply, about: paid.transactionID)
        try expect(word == "granted" || word == "pending", "granted, or pending")
        let end = try await lab.settled(claim, paid.transactionID, proof: proof)
        try expect(end == (word == "granted" ? "duplicate" : "granted"), "granted, once")
      }
    },
    ConformanceCheck(
      "proof-per-claim", "claims of one upload rest on proofs of their own, or on none", answer
    ) { lab in
      let (first, one) = try await lab.paidOrder()
      let (second, two) = try await lab.paidOrder()
      let (third, byID) = try await lab.paidOrder()
      let claims = [
        ConformanceLab.with(ConformanceLab.claim(one, order: first.number), "proof", 1),
        ConformanceLab.with(ConformanceLab.claim(two, order: second.number), "proof", 0),
        ConformanceLab.claim(byID, order: third.number),
      ]
      let proofs = [ConformanceLab.signed(two), ConformanceLab.signed(one)]
      let reply = try await lab.upload(claims, proofs: proofs)
      for paid in [one, two] {
        let word = try await lab.verdict(reply, about: paid.transactionID)
        try expect(word == "granted" || word == "pending", "granted, or pending")
      }
      let word = try await lab.verdict(reply, about: byID.transactionID)
      try expect(["granted", "pending", "unknownTransaction"].contains(word), "granted, or not settled")
    },
    ConformanceCheck(
      "upload-unknown-members", "members and words that a newer client adds are ignored", answer
    ) { lab in
      let (order, paid) = try await lab.paidOrder()
      var claim = ConformanceLab.claim(paid, order: order.number).object ?? [:]
      claim["proof"] = 0
      claim["evidence"] = "aWordOfALaterVersion"
      claim["ofALaterVersion"] = ["a": [1, 2]]
      let proof = ConformanceLab.with(ConformanceLab.signed(paid), "ofALaterVersion", .bool(true))
      let upload: JSONValue = [
        "device": .string(UUID().uuidString), "claims": [.object(claim)], "proofs": [proof],
        "ofALaterVersion": "x",
      ]
      let reply = try await lab.send("POST", "v1/receipts", json: upload)
      let word = try await lab.verdict(reply, about: paid.transactionID)
      try expect(word == "granted" || word == "pending", "granted, or pending")
    },
    ConformanceCheck("upload-hundred", "an upload may have 100 claims, and each gets a verdict", answer) {
      lab in
      let (order, paid) = try await lab.paidOrder()
      var claims = [ConformanceLab.claim(paid, order: order.number)]
      for number in 1..<100 {
        claims.append(
          ConformanceLab.with(ConformanceLab.claim(paid), "transactionID", .string("99000000000\(number)")))
      }
      let reply = try await lab.upload(claims, proof: ConformanceLab.signed(paid))
      let word = try await lab.verdict(reply, about: paid.transactionID)
      try expect(
        word == "granted" || word == "pending", "granted, or pending, for the one that is in the proof")
      let told = Set((reply.json?["verdicts"]?.array ?? []).compactMap { $0["transactionID"]?.string })
      try expect(told.count == 100, "100 verdicts")
    },
    ConformanceCheck("ledger-epoch", "each answer has the same ledgerEpoch", .yourBackend("ledgerEpoch")) {
      lab in
      var epochs: Set<String> = []
      for _ in 0..<2 {
        let (order, paid) = try await lab.paidOrder()
        let claim = ConformanceLab.claim(paid, order: order.number)
        let reply = try await lab.upload([claim], proof: ConformanceLab.signed(paid))
        guard let epoch = reply.json?["ledgerEpoch"]?.string, !epoch.isEmpty else {
          throw ConformanceFailure("a ledgerEpoch")
        }
        epochs.insert(epoch)
      }
      try expect(epochs.count == 1, "the ledgerEpoch of the answer before")
    },
  ]
}
