import AppStoreReceipts
import Foundation
import PurchaseSyncTesting

extension ConformanceCheck {
  private static let rule = ConformanceSource.yourBackend("The 21002 rule")

  /// What the statuses of `verifyReceipt` mean. A backend that does not ask it about a receipt passes.
  static let statuses: [ConformanceCheck] =
    StatusRule.all.map { rule in
      ConformanceCheck(
        "status-\(rule.status)",
        rule.isFinal
          ? "the status \(rule.words) is final: rejected, with a right proof granted"
          : "the status \(rule.words) says nothing of the receipt: the claim waits", Self.rule
      ) { lab in try await lab.judges(rule) }
    } + [
      ConformanceCheck("status-21002", "one 21002 is no reason to reject", rule) { lab in
        try await lab.withReceipt { claim, proof in
          let malformed: JSONValue = ["status": 21002]
          let (word, _) = try await lab.answering([malformed]) {
            try await lab.word(about: claim, proof: proof)
          }
          try expect(word != "rejected", "pending")
          let end = try await lab.settled(claim, claim["transactionID"]?.string ?? "", proof: proof)
          try expect(end == "granted" || word == "granted" && end == "duplicate", "granted, in the end")
        }
      },
      ConformanceCheck("status-21002-always", "a receipt that is always 21002 is rejected in the end", rule) {
        lab in
        try await lab.withReceipt { claim, proof in
          let malformed = Array(repeating: ["status": 21002] as JSONValue, count: 100)
          let (word, wasAsked) = try await lab.answering(malformed) {
            try await lab.settled(claim, claim["transactionID"]?.string ?? "", proof: proof)
          }
          try expect(word == "rejected" || !wasAsked, "rejected, after the fourth")
        }
      },
      ConformanceCheck("status-21002-count", "another status between starts the count of 21002 again", rule) {
        lab in
        try await lab.withReceipt { claim, proof in
          for status in [21002, 21002, 21005, 21002, 21002, 21002] as [JSONValue] {
            let (word, _) = try await lab.answering([["status": status]]) {
              try await lab.word(about: claim, proof: proof)
            }
            try expect(word != "rejected", "no rejection before the fourth 21002 in a row")
          }
          let end = try await lab.settled(claim, claim["transactionID"]?.string ?? "", proof: proof)
          try expect(end == "granted" || end == "duplicate", "granted, in the end")
        }
      },
      ConformanceCheck(
        "status-21002-sender", "a 21002 about one sender's claim does not count against another sender", rule
      ) { lab in
        try await lab.withReceipt { claim, proof in
          let (device, malformed) = (UUID(), ["status": 21002] as JSONValue)
          for caller in [.bob, .bob, .bob, .alice, .device(device)] as [ConformanceLab.Caller] {
            let (word, _) = try await lab.answering([malformed]) {
              try await lab.word(about: claim, proof: proof, as: caller, device: device)
            }
            try expect(word != "rejected", "no rejection before the sender's fourth 21002 in a row")
          }
          let end = try await lab.settled(claim, claim["transactionID"]?.string ?? "", proof: proof)
          try expect(end == "granted" || end == "duplicate", "granted, in the end")
        }
      },
      ConformanceCheck(
        "receipt-silent", "while verifyReceipt does not answer, a claim with a receipt waits",
        .yourBackend("Verdicts")
      ) { lab in
        for status in [200, 404, 503] as [Int64] {
          try await lab.withReceipt { claim, proof in
            let word = try await lab.withoutStoreAnswers(status: status) {
              try await lab.word(about: claim, proof: proof)
            }
            // A backend that reads receipts itself needs no answer.
            try expect(["pending", "granted", "unknownTransaction"].contains(word), "pending")
            let end = try await lab.settled(claim, claim["transactionID"]?.string ?? "", proof: proof)
            try expect(["granted", "duplicate"].contains(end), "granted, when the store answers again")
          }
        }
      },
      ConformanceCheck(
        "receipt-of-one", "the receipt of one transaction (iOS 6) proves it",
        .openAPI("POST", "/v1/receipts", 200)
      ) { lab in
        let (paid, proof) = try await lab.payInOldStyle(try await lab.productID())
        try await lab.gaining(1) {
          let word = try await lab.settled(ConformanceLab.claim(paid), paid.transactionID, proof: proof)
          try expect(word == "granted", "granted")
        }
      },
      ConformanceCheck(
        "status-21006", "21006 is a success: the receipt's period is over, and its claim lapsed", rule
      ) { lab in
        let plan = try await lab.plans().lower
        let (paid, proof) = try await lab.withClock(movedBy: -400 * ConformanceLab.day) {
          let (paid, proof) = try await lab.payInOldStyle(plan)
          try await lab.endRenewal(of: paid)
          return (paid, proof)
        }
        let word = try await lab.settled(ConformanceLab.claim(paid), paid.transactionID, proof: proof)
        try expect(word == "lapsed", "lapsed")
      },
      ConformanceCheck(
        "receipt-newer-periods", "a renewal after the receipt is in the store's answer, and counts", rule
      ) { lab in
        let plan = try await lab.plans().lower
        let apple = await lab.unique("apple")
        let paid = try await lab.pay(token: nil, storeAccount: apple, product: plan)
        let receipt = try await lab.receipt(of: apple)
        let renewal = try await lab.renew(paid)
        let (word, wasAsked) = try await lab.answering([]) {
          try await lab.settled(
            ConformanceLab.claim(renewal), renewal.transactionID, proof: receipt)
        }
        try expect(
          word == "granted" || word == "duplicate" || !wasAsked && word == "unknownTransaction",
          "granted: latest_receipt_info has it, and in_app does not")
      },
      ConformanceCheck(
        "receipt-asked-again", "a receipt is asked about again: what it proved is no answer for now", rule
      ) { lab in
        let plan = try await lab.plans().lower
        let apple = await lab.unique("apple")
        let paid = try await lab.pay(token: nil, storeAccount: apple, product: plan)
        let receipt = try await lab.receipt(of: apple)
        let first = try await lab.settled(ConformanceLab.claim(paid), paid.transactionID, proof: receipt)
        try expect(first == "granted", "granted")
        let renewal = try await lab.renew(paid)
        let (word, wasAsked) = try await lab.answering([]) {
          try await lab.settled(
            ConformanceLab.claim(renewal), renewal.transactionID, proof: receipt)
        }
        let isLocal = try await !lab.asksAboutReceipts()
        try expect(
          word == "granted" || word == "duplicate" || !wasAsked && isLocal && word == "unknownTransaction",
          "granted: the same receipt has another answer after a renewal")
      },
    ]
}

extension ConformanceLab {
  /// Uploads a receipt while the store answers this, and then a right proof.
  fileprivate func judges(_ rule: StatusRule) async throws {
    try await withReceipt { claim, proof in
      let (word, wasAsked) = try await self.answering(Array(repeating: rule.answer, count: 20)) {
        try await self.word(about: claim, proof: proof)
      }
      guard wasAsked else { return }
      if rule.isFinal {
        try expect(word == "rejected", "rejected")
      } else {
        try expect(word == "pending" || word == "unknownTransaction", "pending")
      }
      let end = try await self.settled(claim, claim["transactionID"]?.string ?? "", proof: proof)
      try expect(end == "granted", "granted, when the store answers rightly")
    }
  }

  /// Pays, and hands over the claim and the app receipt as its proof.
  fileprivate nonisolated func withReceipt<R: Sendable>(
    _ body: @Sendable (JSONValue, JSONValue) async throws -> R
  ) async throws -> R {
    let apple = await unique("apple")
    let (order, paid) = try await paidOrder(storeAccount: apple)
    return try await body(Self.claim(paid, order: order.number), try await receipt(of: apple))
  }

  /// Pays without a token, over the interface of iOS 6: the proof is the transaction's own receipt.
  fileprivate func payInOldStyle(_ product: String) async throws -> (Paid, proof: JSONValue) {
    let reply = try await ask(
      "POST", "store/payments",
      [
        "productID": .string(product), "storeAccount": .string(unique("apple")),
        "delivery": ["proofs": ["transactionReceipt"], "forgetsToken": false, "isUnverified": false],
      ])
    guard let told = reply.json?["transactions"]?.array?.first, let id = told["transactionID"]?.string,
      let receipt = told["proof"]?.string, let jws = reply.json?["signedTransaction"]?.string
    else { throw ConformanceFailure("a payment at the store, with the receipt of its transaction") }
    return (
      Paid(transactionID: id, productID: product, jws: jws),
      ["kind": "transactionReceipt", "data": .string(receipt)]
    )
  }

  /// One upload: its verdict, or `pending` for a 5xx.
  fileprivate func word(
    about claim: JSONValue, proof: JSONValue, as caller: Caller = .alice, device: UUID = UUID()
  ) async throws -> String {
    let reply = try await upload([claim], proof: proof, as: caller, device: device)
    if reply.status >= 500 { return "pending" }
    return try verdict(reply, about: claim["transactionID"]?.string ?? "")
  }

  /// Runs `body` while `verifyReceipt` gives these answers. Says whether it was asked.
  fileprivate nonisolated func answering<R: Sendable>(
    _ answers: [JSONValue], _ body: @Sendable () async throws -> R
  ) async throws -> (R, wasAsked: Bool) {
    let before = try await plan(answers)
    let result: Result<R, any Error>
    do { result = .success(try await body()) } catch { result = .failure(error) }
    let after = try await plan([])
    return (try result.get(), after != before)
  }

  /// Whether the backend asks `verifyReceipt` about a receipt that it has not seen.
  fileprivate nonisolated func asksAboutReceipts() async throws -> Bool {
    try await withReceipt { claim, proof in
      try await self.answering([]) { try await self.word(about: claim, proof: proof) }.wasAsked
    }
  }

  /// Plans the next answers of `verifyReceipt`. Returns how often it was asked until now.
  private func plan(_ answers: [JSONValue]) async throws -> JSONValue {
    let reply = try await ask("PUT", "store/verify-receipt-answers", ["answers": .array(answers)])
    guard reply.status == 200, let asked = reply.json?["asked"] else {
      throw ConformanceFailure("200 of the store, for planned answers")
    }
    return asked
  }
}
