import AppStoreReceipts
import Foundation
import PurchaseSyncTesting

extension ConformanceCheck {
  private static let rows = ConformanceSource.yourBackend("Who gets it")
  private static let parts = ConformanceSource.yourBackend("If a part is refunded")

  /// What only a receipt proves: the store's record, by id, says whose it is and how much of it was refunded.
  static let receiptRecords: [ConformanceCheck] = [
    ConformanceCheck(
      "receipt-record-silent", "what only a receipt proves waits while the store answers no question by id",
      rows
    ) { lab in
      for status in [503, 401] as [Int64] {
        let apple = await lab.unique("apple")
        let (_, paid) = try await lab.paidOrder(storeAccount: apple)
        let receipt = try await lab.receipt(of: apple)
        try await lab.gaining(0, by: .bob) {
          let word = try await lab.gaining(0) {
            try await lab.wordWithoutRecord(of: paid, receipt, status, as: .bob)
          }
          try expect(word == "pending", "pending: the store's record is not known")
        }
        try await lab.gaining(0, by: .bob) {
          try await lab.gaining(1) {
            let word = try await lab.settled(
              ConformanceLab.claim(paid), paid.transactionID, proof: receipt, as: .bob)
            try expect(word == "otherOwner", "otherOwner: the store's record names the other account's order")
          }
        }
      }
    },
    ConformanceCheck(
      "receipt-refunded-part",
      "of a purchase with a cancellation_date the share is taken back, by its record",
      parts
    ) { lab in
      // A notification that the store has sent itself may credit it first.
      let order = try await lab.gaining(2) {
        let (order, paid, receipt) = try await lab.refundedPart()
        let word = try await lab.settled(
          ConformanceLab.claim(paid, order: order.number), paid.transactionID, proof: receipt)
        try expect(word == "refunded", "refunded")
        return order
      }
      try await lab.expectState("delivered", of: order.number)
    },
    ConformanceCheck(
      "receipt-refund-silent", "a cancellation_date takes nothing back until the store answers by id", parts
    ) { lab in
      let before = try await lab.held(by: .alice)
      let (order, paid, receipt) = try await lab.refundedPart(isGranted: true)
      let word = try await lab.wordWithoutRecord(of: paid, receipt, 503)
      let between = try await lab.held(by: .alice)
      // The backend may know of the refund from a notification that the store has sent itself.
      let isTold = between == before + 2 && ["pending", "refunded"].contains(word)
      try expect(isTold || word == "pending", "pending: the store's record is not known")
      try expect(isTold || between == before + 3, "nothing is taken back: \(before + 3)")
      let end = try await lab.settled(
        ConformanceLab.claim(paid, order: order.number), paid.transactionID, proof: receipt)
      try expect(end == "refunded", "refunded")
      let after = try await lab.held(by: .alice)
      try expect(after == before + 2, "two units of three: \(before + 2)")
    },
    ConformanceCheck(
      "receipt-refunded", "a purchase that only a receipt calls refunded is granted to nobody", parts
    ) { lab in
      let apple = await lab.unique("apple")
      let (order, paid) = try await lab.paidOrder(storeAccount: apple)
      _ = try await lab.refund(paid)
      let receipt = try await lab.receipt(of: apple)
      try await lab.gaining(0) {
        let word = try await lab.settled(
          ConformanceLab.claim(paid, order: order.number), paid.transactionID, proof: receipt)
        try expect(word == "refunded", "refunded")
      }
    },
  ]
}

extension ConformanceLab {
  /// Three units in one purchase, of which one was refunded, and the receipt with it.
  fileprivate func refundedPart(isGranted: Bool = false) async throws -> (MadeOrder, Paid, receipt: JSONValue)
  {
    let apple = unique("apple")
    let (order, paid) = try await paidOrder(storeAccount: apple, quantity: 3)
    if isGranted { try await settle(paid, order: order.number, to: "granted") }
    _ = try await refund(paid, units: 1)
    return (order, paid, try await receipt(of: apple))
  }

  /// The verdict about a claim with a receipt while the store answers a question by id with this status. A 5xx is `pending`.
  fileprivate func wordWithoutRecord(
    of paid: Paid, _ receipt: JSONValue, _ status: Int64, as caller: Caller = .alice
  ) async throws -> String {
    let reply = try await withoutStoreAnswers(to: .byID, status: status) {
      try await self.upload([Self.claim(paid)], proof: receipt, as: caller)
    }
    return reply.status >= 500 ? "pending" : try verdict(reply, about: paid.transactionID)
  }
}
