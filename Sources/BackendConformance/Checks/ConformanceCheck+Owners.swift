import AppStoreReceipts
import Foundation
import PurchaseSyncTesting

extension ConformanceCheck {
  private static let ownerless = ConformanceSource.yourBackend("If no order says whose it is")
  private static let overview = ConformanceSource.yourBackend("Overview")

  /// Which account gets a purchase.
  static let sharing: [ConformanceCheck] = [
    ConformanceCheck(
      "receipt-two-accounts", "of a shared receipt, only claimed transactions are granted", overview
    ) { lab in
      let apple = await lab.unique("apple")
      let (first, alices) = try await lab.paidOrder(storeAccount: apple)
      let (second, bobs) = try await lab.paidOrder(as: .bob, storeAccount: apple)
      let proof = try await lab.receipt(of: apple)
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
    ConformanceCheck(
      "receipt-token", "what only a receipt proves pays the order that the store's record of it names",
      .yourBackend("Who gets it")
    ) { lab in
      let apple = await lab.unique("apple")
      let (order, paid) = try await lab.paidOrder(storeAccount: apple)
      let proof = try await lab.receipt(of: apple)
      try await lab.gaining(0, by: .bob) {
        try await lab.gaining(1) {
          let word = try await lab.settled(
            ConformanceLab.claim(paid), paid.transactionID, proof: proof, as: .bob)
          try expect(word == "otherOwner", "otherOwner")
        }
      }
      try await lab.expectState("delivered", of: order.number)
    },
    ConformanceCheck("other-owner", "another account's upload is granted to the order's owner", overview) {
      lab in
      let (order, paid) = try await lab.paidOrder()
      let before = (alice: try await lab.held(by: .alice), bob: try await lab.held(by: .bob))
      let word = try await lab.settled(paid, order: order.number, as: .bob)
      try expect(word == "otherOwner", "otherOwner")
      let after = (alice: try await lab.held(by: .alice), bob: try await lab.held(by: .bob))
      try expect(after.alice == before.alice + 1, "one more for the order's owner: \(before.alice + 1)")
      try expect(after.bob == before.bob, "nothing for the account that uploaded it: \(before.bob)")
    },
    ConformanceCheck("credited-once", "what one account has is not credited to another one", overview) {
      lab in
      let paid = try await lab.pay(token: nil, storeAccount: lab.unique("apple"))
      let word = try await lab.settled(paid)
      try expect(word == "granted", "granted to the first account that claims it")
      let before = try await lab.held(by: .bob)
      let other = try await lab.settled(paid, as: .bob)
      try expect(other == "otherOwner", "otherOwner")
      let after = try await lab.held(by: .bob)
      try expect(after == before, "nothing for the second account: \(before)")
    },
    ConformanceCheck(
      "token-alone", "the account token in the proof names the order, also if the claim names none", overview
    ) { lab in
      let before = try await lab.held(by: .alice)
      let (order, paid) = try await lab.paidOrder()
      _ = try await lab.settled(paid, as: .bob)
      let after = try await lab.held(by: .alice)
      try expect(after == before + 1, "one more for the account whose order the token names: \(before + 1)")
      let state = try await lab.state(of: order.number)
      try expect(state == "delivered", "the order is delivered")
    },
    ConformanceCheck("token-wins", "the token in the proof counts against the order of a claim", overview) {
      lab in
      let (_, paid) = try await lab.paidOrder()
      let bobs = try await lab.order(as: .bob)
      let before = try await lab.held(by: .bob)
      let word = try await lab.settled(paid, order: bobs.number, as: .bob)
      try expect(word == "otherOwner", "otherOwner")
      let after = try await lab.held(by: .bob)
      try expect(after == before, "nothing for the account whose order is only claimed: \(before)")
      let state = try await lab.state(of: bobs.number, as: .bob)
      try expect(state == "open", "the order that was not paid is still open")
    },
    ConformanceCheck("paid-twice", "a second payment of one order is credited too", overview) { lab in
      let before = try await lab.held(by: .alice)
      let (order, _) = try await lab.grantedOrder()
      let second = try await lab.pay(token: order.token, storeAccount: lab.unique("apple"))
      let word = try await lab.settled(second, order: order.number)
      try expect(word == "granted", "granted: it is real money")
      let after = try await lab.held(by: .alice)
      try expect(after == before + 2, "one more for each payment: \(before + 2)")
    },
    ConformanceCheck(
      "family-shared", "a purchase that a family shares is granted to the member too", overview
    ) { lab in
      let product = try await lab.sharedProductID()
      let (payer, member) = (await lab.unique("apple"), await lab.unique("apple"))
      try await lab.share(of: payer, with: member)
      let (order, paid) = try await lab.paidOrder(storeAccount: payer, product: product)
      let first = try await lab.settled(paid, order: order.number)
      try expect(first == "granted", "granted to the payer")
      let before = try await lab.held(by: .bob, of: product)
      let shared = try await lab.delivered(to: member, product: product)
      let word = try await lab.settled(shared, as: .bob)
      try expect(word == "granted", "granted to the member: the share is a transaction of its own")
      let after = try await lab.held(by: .bob, of: product)
      try expect(after == before + 1, "one more for the member: \(before + 1)")
    },
  ]

  /// What a verdict says about the owner, and what it must not say.
  static let owners: [ConformanceCheck] = [
    ConformanceCheck(
      "owner-on-device", "a device is told that a purchase is of the account that is signed in", ownerless
    ) { lab in
      let device = UUID()
      let (_, paid) = try await lab.paidOrder()
      let before = try await lab.held(by: .alice)
      // Her other device made the order: this one has no claim to it.
      let told = try await lab.told(paid, as: .deviceOfAlice(device), device: device)
      try expect(told["verdict"]?.string == "granted", "granted")
      try expect(told["owner"]?.string == "yours", "the owner yours")
      let after = try await lab.held(by: .alice)
      try expect(after == before + 1, "one more for the order's account: \(before + 1)")
    },
    ConformanceCheck(
      "owner-unnamed", "nothing names the owner to another account, nor the owner's order",
      .openAPI("POST", "/v1/receipts", 200)
    ) { lab in
      let device = UUID()
      let (order, paid) = try await lab.paidOrder()
      for caller in [ConformanceLab.Caller.deviceOfBob(device), .bob] {
        let told = try await lab.told(paid, as: caller, device: device)
        try expect(told["verdict"]?.string == "otherOwner", "otherOwner")
        try expect(told["owner"]?.string == "another", "the owner another")
        try expect(told["orderNumber"] == nil, "no orderNumber")
        let isNamed = told.values.contains { $0.string?.contains(order.number) == true }
        try expect(!isNamed, "no order number in a reason")
      }
    },
    ConformanceCheck(
      "owner-without-token", "a purchase without a token is the device's, whichever account is signed in",
      ownerless
    ) { lab in
      let device = UUID()
      let paid = try await lab.pay(token: nil, storeAccount: lab.unique("apple"))
      let before = try await lab.held(by: .alice)
      let told = try await lab.told(paid, as: .deviceOfAlice(device), device: device)
      try expect(told["verdict"]?.string == "granted", "granted")
      try expect(told["owner"]?.string == "device", "the owner device")
      let after = try await lab.held(by: .alice)
      try expect(after == before, "nothing for the account that is signed in: \(before)")
    },
  ]
}
