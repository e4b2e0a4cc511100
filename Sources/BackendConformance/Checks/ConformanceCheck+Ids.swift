import AppStoreReceipts
import Foundation
import PurchaseSyncTesting

extension ConformanceCheck {
  private static let byID = ConformanceSource.yourBackend("A claim without a proof")

  /// Claims without a proof: the store's record alone decides.
  static let ids: [ConformanceCheck] = [
    ConformanceCheck(
      "id-credited", "an id alone is credited to the account whose order the store's record names", byID
    ) { lab in
      let (order, paid) = try await lab.paidOrder()
      try await lab.gaining(1) {
        let word = try await lab.settled(
          ConformanceLab.claim(paid, order: order.number), paid.transactionID, proof: nil)
        try expect(word == "granted", "granted")
      }
      try await lab.expectState("delivered", of: order.number)
    },
    ConformanceCheck(
      "id-of-other", "an id alone that another account sends is credited to the order's account", byID
    ) { lab in
      let (_, paid) = try await lab.paidOrder()
      try await lab.gaining(0, by: .bob) {
        try await lab.gaining(1) {
          let word = try await lab.settled(
            ConformanceLab.claim(paid), paid.transactionID, proof: nil, as: .bob)
          try expect(word == "otherOwner", "otherOwner")
        }
      }
    },
    ConformanceCheck("id-again", "an id alone that the account has is a duplicate", byID) { lab in
      let paid = try await lab.pay(token: nil, storeAccount: lab.unique("apple"))
      try await lab.settle(paid, to: "granted")
      try await lab.gaining(0) {
        let word = try await lab.settled(ConformanceLab.claim(paid), paid.transactionID, proof: nil)
        try expect(word == "duplicate", "duplicate")
      }
    },
    ConformanceCheck(
      "id-of-chain", "an id alone of a renewal is credited to who has the period before", byID
    ) { lab in
      let plan = try await lab.plans().lower
      let paid = try await lab.pay(token: nil, storeAccount: lab.unique("apple"), product: plan)
      try await lab.settle(paid, to: "granted")
      let before = try await lab.ends(of: plan, by: .alice)
      let renewal = try await lab.renew(paid)
      let word = try await lab.settled(
        ConformanceLab.claim(renewal), renewal.transactionID, proof: nil, as: .bob)
      try expect(word == "otherOwner", "otherOwner")
      let after = try await lab.ends(of: plan, by: .alice)
      try expect(after > before, "a later expiresAt of the account that has the subscription")
    },
    ConformanceCheck(
      "id-unmoved", "an id alone moves nothing away from a device that has the purchase", byID
    ) { lab in
      let device = UUID()
      let paid = try await lab.grantedToDevice(device)
      try await lab.gaining(0) {
        _ = try await lab.settled(ConformanceLab.claim(paid), paid.transactionID, proof: nil)
      }
      let word = try await lab.settled(paid, as: .device(device), device: device)
      try expect(word == "duplicate", "duplicate, for the device that has it")
    },
    ConformanceCheck(
      "id-refunded", "an id alone tells nothing of a refund, if the store's record names no owner",
      byID
    ) { lab in
      let paid = try await lab.pay(token: nil, storeAccount: lab.unique("apple"))
      let refunded = try await lab.refund(paid)
      try await lab.asksForProof(of: paid)
      try await lab.settle(refunded, to: "refunded")
    },
    ConformanceCheck(
      "id-lapsed", "an id alone tells nothing of an old period, if the store's record names no owner", byID
    ) { lab in
      let plan = try await lab.plans().lower
      let old = try await lab.withClock(movedBy: -400 * ConformanceLab.day) {
        let old = try await lab.pay(token: nil, storeAccount: lab.unique("apple"), product: plan)
        try await lab.endRenewal(of: old)
        return old
      }
      try await lab.asksForProof(of: old)
      try await lab.settle(old, to: "lapsed")
    },
    ConformanceCheck(
      "id-odd", "an id that is no number is no part of another question to the store", byID
    ) { lab in
      let (_, paid) = try await lab.paidOrder()
      for id in [
        "../transactions/\(paid.transactionID)", "\(paid.transactionID)?x=1", "\(paid.transactionID)#",
        "%2e%2e/x", "1' OR '1'='1", "\u{0}", "é",
      ] {
        let claim = ConformanceLab.with(ConformanceLab.claim(paid), "transactionID", .string(id))
        let reply = try await lab.upload([claim], proof: nil)
        try expect(reply.status < 500, "no 5xx for the transactionID \(id.debugDescription)")
        guard reply.status == 200 else { continue }
        let word = try await lab.verdict(reply, about: id)
        try expect(
          ["unknownTransaction", "pending", "rejected"].contains(word),
          "no settling verdict for the transactionID \(id.debugDescription)")
      }
    },
  ]
}

extension ConformanceLab {
  /// Throws unless another account and a device, which only name the id, are asked for a proof.
  fileprivate func asksForProof(of paid: Paid) async throws {
    let device = UUID()
    for caller in [Caller.bob, .device(device)] {
      let word = try await settled(
        Self.claim(paid), paid.transactionID, proof: nil, as: caller, device: device)
      try expect(word == "unknownTransaction", "unknownTransaction: a proof is needed")
    }
  }
}
