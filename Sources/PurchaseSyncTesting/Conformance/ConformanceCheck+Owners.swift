import AppStoreReceipts
import Foundation

extension ConformanceCheck {
  /// What a verdict says about the owner, and what it must not say.
  static let owners = [
    ConformanceCheck(
      name: "owner-on-device", promise: "a device is told that a purchase is of the account that is signed in"
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
      name: "owner-unnamed", promise: "nothing names the owner to another account, nor the owner's order"
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
      name: "owner-without-token",
      promise: "a purchase without a token is the device's, whichever account is signed in"
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

extension ConformanceLab {
  /// The verdict about a claim that names no order, when it is no longer pending.
  func told(_ paid: Paid, as caller: Caller, device: UUID) async throws -> [String: JSONValue] {
    let claim = Self.claim(paid)
    let word = try await settled(
      claim, paid.transactionID, proof: Self.signed(paid), as: caller, device: device)
    // The first answer about it, or the same again.
    let reply = try await upload([claim], proof: Self.signed(paid), as: caller, device: device)
    let verdicts = reply.json?["verdicts"]?.array ?? []
    guard var told = verdicts.first(where: { $0["transactionID"]?.string == paid.transactionID })?.object
    else { throw ConformanceFailure("a verdict about each claim") }
    // The second upload of what was granted is a duplicate.
    if told["verdict"]?.string == "duplicate" { told["verdict"] = .string(word) }
    return told
  }
}
