import AppStoreReceipts
import Foundation
import PurchaseSyncTesting

extension ConformanceCheck {
  private static let rows = ConformanceSource.yourBackend("Who gets it")

  /// Whose a purchase is that another person has paid, or that comes after another one, or from a device.
  static let ownerRows: [ConformanceCheck] = [
    ConformanceCheck(
      "claim-of-renewal", "the order of a claim about a renewal is not paid, and its account gets nothing",
      rows
    ) { lab in
      let plan = try await lab.plans().lower
      let order = try await lab.order(product: plan)
      let first = try await lab.pay(token: nil, storeAccount: lab.unique("apple"), product: plan)
      try await leaves(lab, order, paid: try await lab.renew(first))
    },
    ConformanceCheck(
      "claim-of-share", "the order of a claim about a family's share is not paid, nor gets its account it",
      rows
    ) { lab in
      let product = try await lab.sharedProductID()
      let order = try await lab.order(product: product)
      try await leaves(lab, order, paid: try await lab.familyShare(of: product).share)
    },
    ConformanceCheck(
      "claim-of-seat", "the order of a claim about a member's seat is not paid, nor gets its account it", rows
    ) { lab in
      let team = try await lab.teamID()
      let order = try await lab.order(product: team)
      let paid = try await lab.pay(token: nil, storeAccount: lab.unique("apple"), product: team, quantity: 3)
      let seat = try await lab.assignSeat(of: paid, to: lab.unique("apple"), carriesToken: false)
      try await leaves(lab, order, paid: seat)
    },
    ConformanceCheck(
      "share-with-token", "the payer's token on a family's share makes it not the payer's", rows
    ) { lab in
      let product = try await lab.sharedProductID()
      let order = try await lab.order(product: product)
      let share = try await lab.restated(
        try await lab.familyShare(of: product).share, ["appAccountToken": .string(order.token)])
      try await leaves(lab, order, isNamed: false, paid: share)
    },
    ConformanceCheck(
      "seat-with-original", "a seat that names the purchaser's first transaction is the member's", rows
    ) { lab in
      let team = try await lab.teamID()
      let (order, paid) = try await lab.paidOrder(product: team, quantity: 3)
      try await lab.settle(paid, order: order.number, to: "granted")
      let seat = try await lab.restated(
        try await lab.assignSeat(of: paid, to: lab.unique("apple"), carriesToken: false),
        ["originalTransactionId": .string(paid.transactionID)])
      try await lab.gaining(1, of: team, by: .bob) { try await lab.settle(seat, as: .bob, to: "granted") }
    },
    ConformanceCheck(
      "chain-nearest", "a later period belongs to the owner of the nearest one before it", rows
    ) { lab in
      let plan = try await lab.plans().lower
      let order = try await lab.order(as: .bob, product: plan)
      let first = try await lab.pay(token: nil, storeAccount: lab.unique("apple"), product: plan)
      try await lab.settle(first, to: "granted")
      let second = try await lab.renew(first)
      // The third one names an order of another account.
      let third = try await lab.restated(
        try await lab.renew(first), ["appAccountToken": .string(order.token)])
      try await lab.settle(third, as: .bob, to: "granted", "duplicate")
      try await lab.settle(second, as: .bob, to: "otherOwner")
      try await lab.settle(try await lab.renew(first), to: "otherOwner")
    },
    ConformanceCheck(
      "chain-after", "a period without one before it belongs to the owner of the one after it", rows
    ) { lab in
      let plan = try await lab.plans().lower
      let first = try await lab.pay(token: nil, storeAccount: lab.unique("apple"), product: plan)
      let (second, third) = (try await lab.renew(first), try await lab.renew(first))
      try await lab.settle(third, to: "granted")
      try await lab.settle(second, as: .bob, to: "otherOwner")
    },
    ConformanceCheck(
      "chain-renamed", "a renewal under a new original id belongs to the owner of the previous one", rows
    ) { lab in
      let plan = try await lab.plans().lower
      let first = try await lab.pay(token: nil, storeAccount: lab.unique("apple"), product: plan)
      try await lab.settle(first, to: "granted")
      let renewal = try await lab.restated(
        try await lab.renew(first),
        [
          "originalTransactionId": .string(first.transactionID + "00"),
          "previousOriginalTransactionId": .string(first.transactionID),
        ])
      try await lab.settle(renewal, as: .bob, to: "otherOwner")
    },
    ConformanceCheck(
      "consumable-on-phone", "a consumable without an account stays with the phone that has it", rows
    ) { lab in
      let (first, second) = (UUID(), UUID())
      let paid = try await lab.grantedToDevice(first)
      let told = try await lab.told(paid, as: .device(second), device: second)
      try expect(told["owner"]?.string == "another", "the owner another: no other phone can restore it")
      try await lab.gaining(1) { try await lab.adopts(first) }
    },
    ConformanceCheck(
      "adoption-nearest",
      "what a device uploads late is the account's that adopted it first after the payment",
      rows
    ) { lab in
      let device = UUID()
      let paid = try await lab.withClock(movedBy: -60_000) {
        try await lab.pay(token: nil, storeAccount: lab.unique("apple"))
      }
      try await lab.grantedToDevice(device)
      try await lab.adopts(device)
      try await lab.grantedToDevice(device)
      try await lab.adopts(device, as: .deviceOfBob(device))
      try await lab.gaining(0, by: .bob) {
        try await lab.gaining(1) {
          let told = try await lab.told(paid, as: .deviceOfAlice(device), device: device)
          try expect(told["owner"]?.string == "yours", "the owner yours")
        }
      }
    },
  ]

  /// Who uploads it gets it, whichever order a claim or a token names.
  private static func leaves(
    _ lab: ConformanceLab, _ order: ConformanceLab.MadeOrder, isNamed: Bool = true, paid: ConformanceLab.Paid
  ) async throws {
    try await lab.settle(paid, order: isNamed ? order.number : nil, as: .bob, to: "granted")
    let told = try await lab.told(paid, as: .bob, device: UUID())
    try expect(told["owner"]?.string == "yours", "the owner yours for who uploads it")
    try await lab.expectState("open", of: order.number)
  }
}

extension ConformanceLab {
  /// A purchase of one person, and its share for another one of the family.
  func familyShare(of product: String) async throws -> (payer: String, paid: Paid, share: Paid) {
    let (payer, member) = (unique("apple"), unique("apple"))
    try await share(of: payer, with: member)
    let paid = try await pay(token: nil, storeAccount: payer, product: product)
    return (payer, paid, try await delivered(to: member, product: product))
  }
}
