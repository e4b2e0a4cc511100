import AppStoreReceipts
import Foundation
import PurchaseSyncTesting

extension ConformanceCheck {
  private static let verdicts = ConformanceSource.yourBackend("Verdicts")
  private static let rows = ConformanceSource.yourBackend("Who gets it")

  /// Proofs and ids that are right, and not what they are taken for.
  static let oddProofs: [ConformanceCheck] = [
    ConformanceCheck("restored-once", "a restored purchase has an id of its own, and was paid once", rows) {
      lab in
      let product = try await lab.sharedProductID()
      let apple = await lab.unique("apple")
      let paid = try await lab.pay(token: nil, storeAccount: apple, product: product)
      try await lab.settle(paid, to: "granted")
      let restored = try await lab.restored(to: apple, product: product)
      try await lab.gaining(0, of: product) { try await lab.settle(restored, to: "duplicate") }
    },
    ConformanceCheck(
      "receipt-too-long", "a receipt that verifyReceipt takes in no request counts as none",
      .yourBackend("A claim without a proof")
    ) { lab in
      let (order, paid) = try await lab.paidOrder()
      let long: JSONValue = [
        "kind": "appReceipt", "data": .string(String(repeating: "QUJD", count: 800_000)),
      ]
      let word = try await lab.settled(
        ConformanceLab.claim(paid, order: order.number), paid.transactionID, proof: long)
      try expect(word == "granted", "granted: the store's record names the order")
    },
    ConformanceCheck(
      "id-as-number", "a transaction id is a text: with a 0 or a space in front it is another one", verdicts
    ) { lab in
      let (order, paid) = try await lab.paidOrder()
      try await lab.gaining(0) {
        for prefix in ["0", " ", "+"] {
          var odd = paid
          odd.transactionID = prefix + paid.transactionID
          let claim = ConformanceLab.claim(odd, order: order.number)
          for proof in [ConformanceLab.signed(paid), nil] {
            let reply = try await lab.upload([claim], proof: proof)
            guard !reply.isRefusal else { continue }
            let word = try await lab.verdict(reply, about: odd.transactionID)
            try expect(["unknownTransaction", "pending", "rejected"].contains(word), "unknownTransaction")
          }
        }
      }
    },
    ConformanceCheck(
      "proof-other-text", "a text that the store signed for something else proves no transaction", verdicts
    ) { lab in
      let plan = try await lab.plans().lower
      let paid = try await lab.pay(token: nil, storeAccount: lab.unique("apple"), product: plan)
      let notification = try await lab.notice(of: paid) ?? ""
      let renewal = JWSText.payload(of: notification)?["data"]?["signedRenewalInfo"]?.string ?? ""
      try await lab.gaining(0, of: plan) {
        for text in [notification, renewal] {
          let proof: JSONValue = ["kind": "signedTransaction", "data": .string(text)]
          let reply = try await lab.upload([ConformanceLab.claim(paid)], proof: proof)
          guard !reply.isRefusal else { continue }
          let word = try await lab.verdict(reply, about: paid.transactionID)
          try expect(["unknownTransaction", "pending", "rejected"].contains(word), "rejected")
        }
      }
    },
  ]
}

extension ConformanceLab {
  /// What a store account gets when it restores its purchases: the transaction of this product.
  fileprivate func restored(to storeAccount: String, product: String) async throws -> Paid {
    let reply = try await ask("POST", "store/restore", ["storeAccount": .string(storeAccount)])
    let all = reply.json?["transactions"]?.array ?? []
    guard let told = all.last(where: { $0["productID"]?.string == product && $0["proof"] != nil }),
      let id = told["transactionID"]?.string, let jws = told["proof"]?.string
    else { throw ConformanceFailure("a restored transaction of \(product)") }
    return Paid(transactionID: id, productID: product, jws: jws)
  }
}
