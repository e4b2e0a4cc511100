import AppStoreReceipts
import Foundation

extension ConformanceCheck {
  /// Which account gets a purchase.
  static let sharing = [
    ConformanceCheck(
      name: "receipt-two-accounts", promise: "of a shared receipt, only claimed transactions are granted"
    ) {
      lab in
      let apple = await lab.unique("apple")
      let (first, alices) = try await lab.paidOrder(storeAccount: apple)
      let (second, bobs) = try await lab.paidOrder(as: .bob, storeAccount: apple)
      let proof: JSONValue = ["kind": "appReceipt", "data": .string(try await lab.receipt(of: apple))]
      let before = (alice: try await lab.held(by: .alice), bob: try await lab.held(by: .bob))
      let claim = ConformanceLab.claim(alices, order: first.number)
      let word = try await lab.settled(claim, alices.transactionID, proof: proof)
      try expect(word == "granted", "granted")
      let between = try await lab.held(by: .bob)
      try expect(between == before.bob, "nothing for the account that has not claimed it: \(before.bob)")
      let other = try await lab.settled(
        ConformanceLab.claim(bobs, order: second.number), bobs.transactionID, proof: proof, as: .bob)
      try expect(other == "granted", "granted to the other account when it claims")
      let after = (alice: try await lab.held(by: .alice), bob: try await lab.held(by: .bob))
      try expect(after.alice == before.alice + 1 && after.bob == before.bob + 1, "one for each")
    },
    ConformanceCheck(name: "other-owner", promise: "another account's upload is granted to the order's owner")
    {
      lab in
      let (order, paid) = try await lab.paidOrder()
      let before = (alice: try await lab.held(by: .alice), bob: try await lab.held(by: .bob))
      let claim = ConformanceLab.claim(paid, order: order.number)
      let word = try await lab.settled(
        claim, paid.transactionID, proof: ConformanceLab.signed(paid), as: .bob)
      try expect(word == "otherOwner", "otherOwner")
      let after = (alice: try await lab.held(by: .alice), bob: try await lab.held(by: .bob))
      try expect(after.alice == before.alice + 1, "one more for the order's owner: \(before.alice + 1)")
      try expect(after.bob == before.bob, "nothing for the account that uploaded it: \(before.bob)")
    },
    ConformanceCheck(name: "device-adopted", promise: "an account adopts what a device bought") {
      lab in
      let device = UUID()
      let paid = try await lab.pay(token: nil, storeAccount: lab.unique("apple"))
      let before = try await lab.held(by: .alice)
      let claim = ConformanceLab.claim(paid)
      let word = try await lab.settled(
        claim, paid.transactionID, proof: ConformanceLab.signed(paid), as: .device(device), device: device)
      try expect(word == "granted", "granted to the device")
      for _ in 0..<2 {
        let reply = try await lab.send(
          "POST", "v1/adoptions", as: .deviceOfAlice(device), json: ["device": .string(device.uuidString)])
        try expect((200..<300).contains(reply.status), "a 2xx, also the second time")
      }
      let after = try await lab.held(by: .alice)
      try expect(after == before + 1, "one more of it: \(before + 1)")
      _ = try await lab.send(
        "POST", "v1/adoptions", as: .deviceOfBob(device), json: ["device": .string(device.uuidString)])
      let still = try await lab.held(by: .alice)
      try expect(still == after, "the first account keeps it: \(after)")
    },
  ]
}
