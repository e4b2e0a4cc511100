import AppStoreReceipts
import Foundation
import PurchaseSyncTesting

extension ConformanceCheck {
  private static let proven = ConformanceSource.yourBackend("Overview")
  private static let verdicts = ConformanceSource.yourBackend("Verdicts")

  /// A claim says what the device believes. The verified proof counts.
  static let claims: [ConformanceCheck] = [
    ConformanceCheck("claim-product", "the product in the proof counts, not that of the claim", proven) {
      lab in
      let other = try await lab.otherProductID()
      let paid = try await lab.pay(token: nil, storeAccount: lab.unique("apple"))
      let before = try await lab.held(by: .alice, of: other)
      let claim = ConformanceLab.with(ConformanceLab.claim(paid), "productID", .string(other))
      _ = try await lab.settled(claim, paid.transactionID, proof: ConformanceLab.signed(paid))
      let after = try await lab.held(by: .alice, of: other)
      try expect(after == before, "none of the product that was not paid: \(before)")
    },
    ConformanceCheck("claim-quantity", "the quantity in the proof counts, not that of the claim", proven) {
      lab in
      let paid = try await lab.pay(token: nil, storeAccount: lab.unique("apple"))
      let before = try await lab.held(by: .alice)
      let claim = ConformanceLab.with(ConformanceLab.claim(paid), "quantity", 9)
      _ = try await lab.settled(claim, paid.transactionID, proof: ConformanceLab.signed(paid))
      let after = try await lab.held(by: .alice)
      try expect(after <= before + 1, "at most the one that was paid: \(before + 1)")
    },
    ConformanceCheck(
      "claim-environment", "one transaction is credited once, whichever environment the claim names", proven
    ) { lab in
      let (order, paid) = try await lab.paidOrder()
      let before = try await lab.held(by: .alice)
      let claim = ConformanceLab.claim(paid, order: order.number)
      for environment in ["Sandbox", "Production", "Xcode"] as [JSONValue] {
        _ = try await lab.settled(
          ConformanceLab.with(claim, "environment", environment), paid.transactionID,
          proof: ConformanceLab.signed(paid))
      }
      let after = try await lab.held(by: .alice)
      try expect(after == before + 1, "one more of it: \(before + 1)")
    },
    ConformanceCheck(
      "claim-transaction", "a claim about a transaction that its proof does not hold grants nothing", verdicts
    ) { lab in
      let paid = try await lab.pay(token: nil, storeAccount: lab.unique("apple"))
      let before = try await lab.held(by: .alice)
      var stray = paid
      stray.transactionID = "999999999999"
      for _ in 0..<2 {
        let reply = try await lab.upload([ConformanceLab.claim(stray)], proof: ConformanceLab.signed(paid))
        let word = try await lab.verdict(reply, about: stray.transactionID)
        try expect(word == "unknownTransaction" || word == "pending", "unknownTransaction")
        stray.transactionID += "9"
      }
      // An id that the store knows, with the receipt of another customer.
      let apple = await lab.unique("apple")
      _ = try await lab.pay(token: nil, storeAccount: apple, product: try await lab.otherProductID())
      let reply = try await lab.upload([ConformanceLab.claim(paid)], proof: try await lab.receipt(of: apple))
      let word = try await lab.verdict(reply, about: paid.transactionID)
      try expect(word == "unknownTransaction" || word == "pending", "unknownTransaction")
      let after = try await lab.held(by: .alice)
      try expect(after == before, "nothing granted: \(before)")
    },
    ConformanceCheck(
      "claim-other-proof", "a proof in the list counts only for the claims that name it",
      .openAPI("POST", "/v1/receipts", 200)
    ) { lab in
      let (order, paid) = try await lab.paidOrder()
      let (_, other) = try await lab.paidOrder()
      let claim = ConformanceLab.with(ConformanceLab.claim(paid, order: order.number), "proof", 0)
      let proofs = [ConformanceLab.signed(other), ConformanceLab.signed(paid)]
      let word = try await lab.verdict(
        try await lab.upload([claim], proofs: proofs), about: paid.transactionID)
      try expect(word == "unknownTransaction" || word == "pending", "unknownTransaction, or pending")
    },
    ConformanceCheck("claim-partial", "a claim that is not in the proof does not affect the others", verdicts)
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
      let end = try await lab.settled(paid, order: order.number)
      try expect(end == (word == "granted" ? "duplicate" : "granted"), "granted, once")
    },
    ConformanceCheck(
      "claim-without-proof", "without a proof the backend asks the store by transaction id",
      .openAPI("POST", "/v1/receipts", 200)
    ) { lab in
      let (order, paid) = try await lab.paidOrder()
      let claim = ConformanceLab.claim(paid, order: order.number)
      let word = try await lab.settled(claim, paid.transactionID, proof: nil)
      try expect(["granted", "pending", "unknownTransaction"].contains(word), "granted, or not settled")
    },
    ConformanceCheck(
      "claim-unknown", "a transaction id that the store does not know grants nothing", verdicts
    ) { lab in
      let paid = ConformanceLab.Paid(
        transactionID: "999999999998", productID: try await lab.productID(), jws: "")
      let before = try await lab.held(by: .alice)
      let reply = try await lab.upload([ConformanceLab.claim(paid)], proof: nil)
      let word = try await lab.verdict(reply, about: paid.transactionID)
      try expect(!["granted", "duplicate", "otherOwner"].contains(word), "no settling verdict")
      let after = try await lab.held(by: .alice)
      try expect(after == before, "nothing granted: \(before)")
    },
    ConformanceCheck(
      "claim-store-refuses", "while the store refuses the backend's own requests, a claim waits", verdicts
    ) { lab in
      for status in [401, 404, 429, 500] as [Int64] {
        let (order, paid) = try await lab.paidOrder()
        let claim = ConformanceLab.claim(paid, order: order.number)
        let reply = try await lab.withoutStoreAnswers(status: status) {
          try await lab.upload([claim], proof: nil)
        }
        guard reply.status < 500 else { continue }
        let word = try await lab.verdict(reply, about: paid.transactionID)
        try expect(word == "pending", "pending: \(status) of the store says nothing of the transaction")
      }
    },
    ConformanceCheck(
      "claim-store-unsigned", "an answer by id that the store did not sign says nothing: the claim waits",
      verdicts
    ) { lab in
      let (order, paid) = try await lab.paidOrder()
      let claim = ConformanceLab.claim(paid, order: order.number)
      let wrong = try await lab.signedAgain(paid, "?broken=wrong-root")
      let reply = try await lab.withoutStoreAnswers(
        status: 200, body: ["signedTransactionInfo": .string(wrong.jws)]
      ) { try await lab.upload([claim], proof: nil) }
      if reply.status < 500 {
        let word = try await lab.verdict(reply, about: paid.transactionID)
        try expect(word == "pending", "pending: another server gave the answer")
      }
      let end = try await lab.settled(paid, order: order.number)
      try expect(end == "granted", "granted, when the store answers again")
    },
    ConformanceCheck(
      "claim-store-silent", "while the store does not answer, a claim without a proof is pending", verdicts
    ) { lab in
      let (order, paid) = try await lab.paidOrder()
      let before = try await lab.held(by: .alice)
      let claim = ConformanceLab.claim(paid, order: order.number)
      let reply = try await lab.withoutStoreAnswers { try await lab.upload([claim], proof: nil) }
      if reply.status < 500 {
        let word = try await lab.verdict(reply, about: paid.transactionID)
        try expect(word == "pending", "pending")
      }
      let between = try await lab.held(by: .alice)
      try expect(between == before, "nothing granted yet: \(before)")
      let end = try await lab.settled(paid, order: order.number)
      try expect(end == "granted", "granted, when the store answers again")
    },
  ]
}
