import AppStoreReceipts
import Foundation
import PurchaseSyncTesting

extension ConformanceCheck {
  private static let rows = ConformanceSource.yourBackend("Who gets it")
  private static let parts = ConformanceSource.yourBackend("If a part is refunded")

  /// What only a receipt proves: the store's record, by id, says whose it is and how much of it was refunded.
  static let receiptRecords = [
    ConformanceCheck(
      "receipt-record-silent", "what only a receipt proves waits while the store answers no question by id",
      rows
    ) { lab in
      for status in [503, 401, 429] as [Int64] {
        let apple = await lab.unique("apple")
        let (_, paid) = try await lab.paidOrder(storeAccount: apple)
        let receipt = try await lab.receipt(of: apple)
        try await lab.gaining(0, by: .bob) {
          try await lab.gaining(0) { try await lab.waits(paid, receipt, status, as: .bob) }
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
      let (order, paid, receipt) = try await lab.refundedPart()
      let claim = ConformanceLab.claim(paid, order: order.number)
      try await lab.gaining(2) {
        let word = try await lab.settled(claim, paid.transactionID, proof: receipt)
        try expect(word == "refunded", "refunded")
      }
      try await lab.expectState("delivered", of: order.number)
    },
    ConformanceCheck(
      "receipt-refund-silent", "a cancellation_date takes nothing back until the store answers by id", parts
    ) { lab in
      let (order, paid, receipt) = try await lab.refundedPart(isGranted: true)
      let before = try await lab.held(by: .alice)
      try await lab.waits(paid, receipt, 503)
      let between = try await lab.held(by: .alice)
      // A notification that the store has sent itself may have come.
      try expect(between == before || between == before - 1, "what was not refunded: \(before - 1) at least")
      let word = try await lab.settled(
        ConformanceLab.claim(paid, order: order.number), paid.transactionID, proof: receipt)
      try expect(word == "refunded", "refunded")
      let after = try await lab.held(by: .alice)
      try expect(after == before - 1 || after == between, "one less: \(before - 1)")
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

  /// Throws unless a claim with a receipt waits while the store answers a question by id with this status.
  fileprivate func waits(
    _ paid: Paid, _ receipt: JSONValue, _ status: Int64, as caller: Caller = .alice
  ) async throws {
    let reply = try await withoutStoreAnswers(to: .byID, status: status) {
      try await self.upload([Self.claim(paid)], proof: receipt, as: caller)
    }
    guard reply.status < 500, reply.status != 429 else { return }
    let word = try verdict(reply, about: paid.transactionID)
    try expect(word == "pending", "pending: the store's record is not known")
  }
}
