import AppStoreReceipts
import Foundation
import PurchaseSyncTesting

extension ConformanceCheck {
  private static let verdicts = ConformanceSource.yourBackend("Verdicts")
  private static let refused = ConformanceSource.openAPI("POST", "/v1/notifications/appstore", 422)
  /// An app that is not the store's.
  private static let stranger = "com.example.stranger"

  /// What the store has signed with one defect, and what it has signed for another app.
  static let defects: [ConformanceCheck] =
    ProofDefect.ofTransactions.map { defect in
      ConformanceCheck(
        "proof-" + defect.word, "a transaction grants nothing if \(defect.broken.summary)", verdicts
      ) { lab in
        try await lab.refusesTransaction("?broken=" + defect.broken.rawValue)
      }
    }
    + ProofDefect.all.map { defect in
      ConformanceCheck(
        "receipt-" + defect.word, "an app receipt grants nothing if \(defect.broken.summary)", verdicts
      ) { lab in
        try await lab.refusesReceipt("&broken=" + defect.broken.rawValue)
      }
    }
    + ProofDefect.ofNotifications.map { defect in
      ConformanceCheck(
        "notification-" + defect.word, "a notification is refused if \(defect.broken.summary)", refused
      ) { lab in
        try await lab.refusesNotification("broken=" + defect.broken.rawValue)
      }
    }
    + [
      ConformanceCheck("proof-other-app", "a transaction of another app grants nothing", verdicts) { lab in
        try await lab.refusesTransaction("?bundleID=" + stranger)
      },
      ConformanceCheck("receipt-other-app", "an app receipt of another app grants nothing", verdicts) { lab in
        try await lab.refusesReceipt("&bundleID=" + stranger)
      },
      ConformanceCheck("notification-other-app", "a notification about another app is refused", refused) {
        lab in
        try await lab.refusesNotification("bundleID=" + stranger)
      },
      ConformanceCheck(
        "rejected-reason", "each rejected claim has a reason", .openAPI("POST", "/v1/receipts", 200)
      ) { lab in
        let paid = try await lab.pay(token: nil, storeAccount: lab.unique("apple"))
        for query in ["?broken=wrong-root", "?bundleID=" + stranger] {
          let wrong = try await lab.signedAgain(paid, query)
          let reply = try await lab.upload([ConformanceLab.claim(paid)], proof: ConformanceLab.signed(wrong))
          guard try await lab.verdict(reply, about: paid.transactionID) == "rejected" else { continue }
          let reason = reply.json?["verdicts"]?.array?.first?["reason"]?.string
          try expect(reason?.isEmpty == false, "a reason")
        }
      },
    ]
}

extension ConformanceLab {
  /// What the store signs in an unusual way grants nothing, and does not spoil the right proof of the same purchase.
  fileprivate func refusesTransaction(_ query: String) async throws {
    let paid = try await pay(token: nil, storeAccount: unique("apple"))
    let proof = Self.signed(try await signedAgain(paid, query))
    try await refuses(proof, of: paid, thenTakes: Self.signed(paid))
  }

  fileprivate func refusesReceipt(_ query: String) async throws {
    let apple = unique("apple")
    let paid = try await pay(token: nil, storeAccount: apple)
    try await refuses(
      try await receipt(of: apple, query), of: paid, thenTakes: try await receipt(of: apple))
  }

  private func refuses(_ wrong: JSONValue, of paid: Paid, thenTakes right: JSONValue) async throws {
    let claim = Self.claim(paid)
    try await gaining(0) {
      let word = try await self.settled(claim, paid.transactionID, proof: wrong)
      try expect(["rejected", "unknownTransaction", "pending"].contains(word), "rejected")
    }
    let word = try await settled(claim, paid.transactionID, proof: right)
    try expect(word == "granted", "granted, with a right proof of the same purchase")
  }

  fileprivate func refusesNotification(_ query: String) async throws {
    let paid = try await pay(token: nil, storeAccount: unique("apple"))
    let reply = try await notify(try await notice(of: paid, query))
    try expect(reply.isRefusal, "a 4xx")
    let right = try await notify(try await notice(of: paid))
    try expect(right.isSuccess, "a 2xx for a right one")
  }
}
