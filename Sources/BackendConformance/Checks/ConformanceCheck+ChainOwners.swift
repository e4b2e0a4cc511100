import AppStoreReceipts
import Foundation
import PurchaseSync
import PurchaseSyncTesting

extension ConformanceCheck {
  private static let owner = ConformanceSource.yourBackend("Overview")
  private static let ownerless = ConformanceSource.yourBackend("If no order says whose it is")
  private static let adopted = ConformanceSource.openAPI("POST", "/v1/adoptions", 200)

  /// Who owns the periods of a subscription.
  static let chainOwners: [ConformanceCheck] = [
    ConformanceCheck(
      "chain-bought-again", "a subscription that another account buys again belongs to that account", owner
    ) { lab in
      let plan = try await lab.plans().lower
      let apple = await lab.unique("apple")
      let old = try await lab.withClock(movedBy: -400 * ConformanceLab.day) {
        let old = try await lab.pay(token: nil, storeAccount: apple, product: plan)
        try await lab.endRenewal(of: old)
        return old
      }
      try await lab.settle(old, to: "lapsed")
      let order = try await lab.order(as: .bob, product: plan)
      try await lab.gaining(1, of: plan, by: .bob) {
        let again = try await lab.pay(token: order.token, storeAccount: apple, product: plan)
        try await lab.settle(again, order: order.number, as: .bob, to: "granted", "duplicate")
      }
      try await lab.expectState("delivered", of: order.number, as: .bob)
    },
    ConformanceCheck(
      "chain-token", "a period's token counts against who has the period before", owner
    ) { lab in
      let (lower, higher) = try await lab.plans()
      let apple = await lab.unique("apple")
      let first = try await lab.pay(token: nil, storeAccount: apple, product: lower)
      try await lab.settle(first, to: "granted")
      let order = try await lab.order(as: .bob, product: higher)
      // The store's own notification may be faster than the upload.
      try await lab.gaining(1, of: higher, by: .bob) {
        let second = try await lab.pay(token: order.token, storeAccount: apple, product: higher)
        try await lab.settle(second, to: "otherOwner")
      }
    },
    ConformanceCheck(
      "chain-first-late", "a period that is notified before the first one is claimed goes to who claims that",
      owner
    ) { lab in
      let plan = try await lab.plans().lower
      let paid = try await lab.pay(token: nil, storeAccount: lab.unique("apple"), product: plan)
      let renewal = try await lab.renew(paid)
      let told = try await lab.notify(renewal.notification)
      try expect(told.isSuccess, "a 2xx")
      let ends = try await lab.ends(of: plan, by: .bob)
      try await lab.settle(paid, as: .bob, to: "granted", "duplicate")
      guard case .integer(let end)? = JWSText.payload(of: renewal.jws)?["expiresDate"] else {
        throw ConformanceFailure("an expiresDate of a renewal")
      }
      let later = try await lab.ends(of: plan, by: .bob)
      try expect(later >= ends + Double(end), "the end of the notified period for who claims the first one")
      let before = try await lab.held(by: .alice, of: plan)
      try await lab.settle(renewal, to: "otherOwner")
      let after = try await lab.held(by: .alice, of: plan)
      try expect(after == before, "nothing for the account that has no earlier period: \(before)")
    },
    ConformanceCheck(
      "chain-on-device", "a renewal that a device uploads belongs to the account of the period before",
      ownerless
    ) { lab in
      let plan = try await lab.plans().lower
      let device = UUID()
      let paid = try await lab.pay(token: nil, storeAccount: lab.unique("apple"), product: plan)
      try await lab.settle(paid, to: "granted")
      let before = try await lab.ends(of: plan, by: .alice)
      let renewal = try await lab.renew(paid)
      let told = try await lab.told(renewal, as: .deviceOfAlice(device), device: device)
      try expect(["granted", "duplicate"].contains(told["verdict"]?.string), "granted, or duplicate")
      try expect(told["owner"]?.string == "yours", "the owner yours")
      let after = try await lab.ends(of: plan, by: .alice)
      try expect(after > before, "a later expiresAt")
    },
    ConformanceCheck(
      "chain-of-device", "the renewal of a device's subscription is the device's, whoever is signed in",
      ownerless
    ) { lab in
      let plan = try await lab.plans().lower
      let device = UUID()
      let paid = try await lab.pay(token: nil, storeAccount: lab.unique("apple"), product: plan)
      try await lab.settle(paid, as: .device(device), device: device, to: "granted")
      try await lab.gaining(0, of: plan) {
        let renewal = try await lab.renew(paid)
        let told = try await lab.told(renewal, as: .deviceOfAlice(device), device: device)
        try expect(["granted", "duplicate"].contains(told["verdict"]?.string), "granted, or duplicate")
        try expect(told["owner"]?.string == "device", "the owner device")
      }
    },
    ConformanceCheck(
      "chain-adopted", "the renewal of an adopted subscription belongs to the account that adopted it",
      adopted
    ) { lab in
      let plan = try await lab.plans().lower
      let device = UUID()
      let paid = try await lab.pay(token: nil, storeAccount: lab.unique("apple"), product: plan)
      try await lab.settle(paid, as: .device(device), device: device, to: "granted")
      try await lab.adopts(device)
      let before = try await lab.ends(of: plan, by: .alice)
      try await lab.settle(try await lab.renew(paid), as: .bob, to: "otherOwner")
      let after = try await lab.ends(of: plan, by: .alice)
      try expect(after > before, "a later expiresAt of the account that adopted it")
    },
  ]

  /// What an adoption covers, and what belongs to which device.
  static let adoptions: [ConformanceCheck] = [
    ConformanceCheck(
      "adoption-later", "a purchase of the device after an adoption is the device's", adopted
    ) { lab in
      let device = UUID()
      try await lab.grantedToDevice(device)
      try await lab.adopts(device)
      let paid = try await lab.pay(token: nil, storeAccount: lab.unique("apple"))
      try await lab.gaining(0) {
        let told = try await lab.told(paid, as: .deviceOfAlice(device), device: device)
        try expect(told["owner"]?.string == "device", "the owner device")
      }
    },
    ConformanceCheck(
      "adoption-earlier", "an adoption covers what the device has paid before it and uploads after it",
      adopted
    ) { lab in
      let (device, paid) = try await lab.paidBeforeAdoption()
      try await lab.gaining(1) {
        let told = try await lab.told(paid, as: .deviceOfAlice(device), device: device)
        try expect(told["owner"]?.string == "yours", "the owner yours")
      }
    },
    ConformanceCheck(
      "adoption-refunded", "a refund of what an adopted device paid before is told as the account's", adopted
    ) { lab in
      let (device, paid) = try await lab.paidBeforeAdoption()
      let refunded = try await lab.refund(paid)
      let callers = [
        (ConformanceLab.Caller.deviceOfAlice(device), "yours"), (.deviceOfBob(device), "another"),
      ]
      for (caller, owner) in callers {
        let word = try await lab.settled(refunded, as: caller, device: device)
        try expect(word == "refunded", "refunded at the first upload")
        let told = try await lab.told(refunded, as: caller, device: device)
        try expect(told["verdict"]?.string == "refunded", "refunded")
        try expect(told["owner"]?.string == owner, "the owner \(owner)")
      }
    },
    ConformanceCheck(
      "adoption-again", "a second adoption by the account covers what the device bought since", adopted
    ) { lab in
      let device = UUID()
      try await lab.grantedToDevice(device)
      try await lab.adopts(device)
      try await lab.grantedToDevice(device)
      try await lab.gaining(1) { try await lab.adopts(device) }
    },
    ConformanceCheck(
      "adoption-of-orders", "an adoption takes nothing that an account has bought on the device", adopted
    ) { lab in
      let device = UUID()
      let (order, paid) = try await lab.paidOrder()
      try await lab.settle(paid, order: order.number, device: device, to: "granted")
      try await lab.gaining(0) {
        try await lab.gaining(0, by: .bob) { try await lab.adopts(device, as: .deviceOfBob(device)) }
      }
    },
    ConformanceCheck(
      "adoption-told", "after an adoption the device is told that its purchases are the account's", adopted
    ) { lab in
      let device = UUID()
      let paid = try await lab.grantedToDevice(device)
      try await lab.adopts(device)
      let mine = try await lab.told(paid, as: .deviceOfAlice(device), device: device)
      try expect(mine["verdict"]?.string == "duplicate", "duplicate")
      try expect(mine["owner"]?.string == "yours", "the owner yours")
      let others = try await lab.told(paid, as: .deviceOfBob(device), device: device)
      try expect(others["verdict"]?.string == "otherOwner", "otherOwner, with another account signed in")
    },
    ConformanceCheck(
      "adoption-empty", "an adoption of a device that has bought nothing is a 200", adopted, needs: []
    ) { lab in
      let device = UUID()
      let reply = try await lab.adopt(device, as: .deviceOfAlice(device))
      try expect(reply.status == 200, "200")
    },
    ConformanceCheck(
      "next-phone", "a purchase without an account moves to the next phone that proves it", ownerless
    ) { lab in
      let product = try await lab.sharedProductID()
      let (first, second) = (UUID(), UUID())
      let paid = try await lab.pay(token: nil, storeAccount: lab.unique("apple"), product: product)
      try await lab.settle(paid, as: .device(first), device: first, to: "granted")
      let told = try await lab.told(paid, as: .device(second), device: second)
      try expect(["duplicate", "granted"].contains(told["verdict"]?.string), "duplicate")
      try expect(told["owner"]?.string == "device", "the owner device")
      try await lab.gaining(1, of: product) {
        try await lab.adopts(second, as: .deviceOfAlice(second))
      }
    },
    ConformanceCheck(
      "next-phone-account", "a purchase without an account goes to the account that proves it", ownerless
    ) { lab in
      let product = try await lab.sharedProductID()
      let device = UUID()
      let paid = try await lab.pay(token: nil, storeAccount: lab.unique("apple"), product: product)
      try await lab.settle(paid, as: .device(device), device: device, to: "granted")
      try await lab.gaining(1, of: product) {
        try await lab.settle(paid, to: "granted", "duplicate")
      }
    },
    ConformanceCheck(
      "device-beside-wrong",
      "a device's name with another secret, beside an account's credential, changes nothing",
      .openAPI("POST", "/v1/receipts", 200)
    ) { lab in
      let device = UUID()
      try await lab.grantedToDevice(device)
      let (order, paid) = try await lab.paidOrder()
      let reply = try await lab.uploadBeside("Device \(device.uuidString):wrong", device, paid, order.number)
      let word = try await lab.verdict(reply, about: paid.transactionID)
      try expect(
        word == "granted" || word == "pending", "granted: the account's purchases do not depend on it")
    },
    ConformanceCheck(
      "device-beside-account", "a device's name beside an account's credential is bound to its secret",
      .openAPI("POST", "/v1/receipts", 403)
    ) { lab in
      let device = UUID()
      let (order, paid) = try await lab.paidOrder()
      let own = "Device \(device.uuidString):\(device.uuidString)"
      let reply = try await lab.uploadBeside(own, device, paid, order.number)
      try expect(reply.status == 200, "200")
      let thief = try await lab.upload(
        [ConformanceLab.claim(paid)], proof: ConformanceLab.signed(paid), as: .thief(device), device: device)
      try expect(thief.status == 403, "403 for another secret")
      try expect(thief.json?["type"]?.string == "device", "the type device")
    },
  ]
}

extension ConformanceLab {
  /// A day in milliseconds.
  static let day: Int64 = 86_400_000

  /// An account's upload with a device's credential and its own.
  fileprivate func uploadBeside(
    _ credential: String, _ device: UUID, _ paid: Paid, _ order: String
  ) async throws -> Reply {
    let claim = Self.with(Self.claim(paid, order: order), "proof", 0)
    return try await send(
      "POST", "v1/receipts", headers: [BackendRequest.deviceHeader: credential],
      json: [
        "device": .string(device.uuidString), "claims": .array([claim]),
        "proofs": .array([Self.signed(paid)]),
      ])
  }

  /// A device that is adopted, and what was paid on it before and never uploaded.
  fileprivate func paidBeforeAdoption() async throws -> (device: UUID, paid: Paid) {
    let device = UUID()
    _ = try await grantedToDevice(device)
    let paid = try await withClock(movedBy: -60_000) {
      try await pay(token: nil, storeAccount: unique("apple"))
    }
    try await adopts(device)
    return (device, paid)
  }

  /// The account that is signed in adopts the device.
  func adopts(_ device: UUID, as caller: Caller? = nil) async throws {
    let reply = try await adopt(device, as: caller ?? .deviceOfAlice(device))
    try expect(reply.isSuccess, "a 2xx for the adoption")
  }
}
