import AppStoreReceipts
import Foundation
import PurchaseSyncTesting

extension ConformanceCheck {
  private static let seated = ConformanceSource.yourBackend("If a subscription has seats")

  /// Subscriptions for several people.
  static let seats: [ConformanceCheck] = [
    ConformanceCheck(
      "seats-added", "an order of seats is paid by those that were missing, and they add", seated
    ) { lab in
      let team = try await lab.teamID()
      let before = try await lab.held(by: .alice, of: team)
      let apple = await lab.unique("apple")
      for (seats, charged) in [(3, 3), (5, 2)] as [(Int64, Int64)] {
        let (order, paid) = try await lab.paidOrder(storeAccount: apple, product: team, quantity: seats)
        var claimed = paid
        claimed.quantity = charged
        let word = try await lab.settled(claimed, order: order.number)
        // The store may have reported the added ones first.
        try expect(word == "granted" || word == "duplicate", "granted, or duplicate")
        let state = try await lab.state(of: order.number)
        try expect(state == "delivered", "the order is delivered")
      }
      let after = try await lab.held(by: .alice, of: team)
      try expect(after == before + 5, "five seats more: \(before + 5)")
    },
    ConformanceCheck("seats-refunded", "a refund of some seats takes those back, and ends nothing", seated) {
      lab in
      let team = try await lab.teamID()
      let before = try await lab.held(by: .alice, of: team)
      let (order, paid) = try await lab.paidOrder(product: team, quantity: 5)
      _ = try await lab.settled(paid, order: order.number)
      for refunded in [2, 1] as [Int64] {
        let changed = try await lab.changeSeats(of: paid, ["refunded": .integer(refunded)])
        let word = try await lab.settled(changed, order: order.number)
        try expect(word == "granted" || word == "duplicate", "granted, or duplicate: nothing has ended")
      }
      let after = try await lab.held(by: .alice, of: team)
      try expect(after == before + 2, "two seats of five: \(before + 2)")
    },
    ConformanceCheck(
      "seats-refund-notified", "REFUND with the subtype SEATS takes some seats back, and no more", seated
    ) { lab in
      let team = try await lab.teamID()
      let before = try await lab.held(by: .alice, of: team)
      let (order, paid) = try await lab.paidOrder(product: team, quantity: 5)
      _ = try await lab.settled(paid, order: order.number)
      let changed = try await lab.changeSeats(of: paid, ["refunded": .integer(2)])
      let reply = try await lab.notify(changed.notification)
      try expect(reply.isSuccess, "a 2xx for the notification")
      let after = try await lab.held(by: .alice, of: team)
      try expect(after == before + 3, "three seats of five: \(before + 3)")
    },
    ConformanceCheck(
      "seat-of-member", "a member's seat is one seat of the member, and none of its purchaser", seated
    ) { lab in try await seat(carriesToken: false, lab) },
    ConformanceCheck(
      "seat-with-token", "the purchaser's token on a member's transaction makes it not the purchaser's",
      seated
    ) { lab in try await seat(carriesToken: true, lab) },
    ConformanceCheck("seat-taken-back", "a seat that is taken back ends for its member alone", seated) {
      lab in
      let team = try await lab.teamID()
      // What else the member has stays.
      let (own, other) = try await lab.paidOrder(as: .bob, product: team)
      _ = try await lab.settled(other, order: own.number, as: .bob)
      let (order, paid) = try await lab.paidOrder(product: team, quantity: 3)
      _ = try await lab.settled(paid, order: order.number)
      let before = (
        alice: try await lab.held(by: .alice, of: team), bob: try await lab.held(by: .bob, of: team)
      )
      let member = await lab.unique("apple")
      let seat = try await lab.assignSeat(of: paid, to: member, carriesToken: false)
      _ = try await lab.settled(seat, as: .bob)
      let taken = try await lab.changeSeats(of: paid, ["takeFrom": .string(member)])
      let word = try await lab.settled(taken, as: .bob)
      try expect(word == "refunded", "refunded")
      let after = (
        alice: try await lab.held(by: .alice, of: team), bob: try await lab.held(by: .bob, of: team)
      )
      try expect(after.bob == before.bob, "without the seat: \(before.bob)")
      try expect(after.alice == before.alice, "the purchaser's seats: \(before.alice)")
    },
    ConformanceCheck(
      "seats-unclaimed", "UNCLAIM_SEATS for claims that nobody made is taken, and ends nothing", seated
    ) { lab in
      let team = try await lab.teamID()
      let (order, paid) = try await lab.paidOrder(product: team, quantity: 3)
      _ = try await lab.settled(paid, order: order.number)
      let before = try await lab.held(by: .alice, of: team)
      let told = try await lab.changeSeats(of: paid, ["unclaimed": .array([.string(UUID().uuidString)])])
      let reply = try await lab.notify(told.notification)
      try expect(200...299 ~= reply.status, "200: another answer makes the store send it again")
      let after = try await lab.held(by: .alice, of: team)
      try expect(after == before, "the purchaser's seats: \(before)")
    },
  ]

  /// The member's phone comes first.
  private static func seat(carriesToken: Bool, _ lab: ConformanceLab) async throws {
    let team = try await lab.teamID()
    let before = (
      alice: try await lab.held(by: .alice, of: team), bob: try await lab.held(by: .bob, of: team)
    )
    let (order, paid) = try await lab.paidOrder(product: team, quantity: 3)
    let seat = try await lab.assignSeat(of: paid, to: await lab.unique("apple"), carriesToken: carriesToken)
    let word = try await lab.settled(seat, as: .bob)
    try expect(word == "granted", "granted to the member")
    let state = try await lab.state(of: order.number)
    try expect(state != "delivered", "the purchaser's order still waits for its payment")
    let bob = try await lab.held(by: .bob, of: team)
    try expect(bob == before.bob + 1, "one seat for the member: \(before.bob + 1)")
    let paidFor = try await lab.settled(paid, order: order.number)
    try expect(paidFor == "granted", "granted to the purchaser")
    let alice = try await lab.held(by: .alice, of: team)
    try expect(alice == before.alice + 3, "three seats for the purchaser: \(before.alice + 3)")
  }
}

extension ConformanceLab {
  /// A subscription with seats, whose invitations the store hosts.
  func teamID() async throws -> String {
    guard
      let id = try await allProducts().first(where: { $0["invitations"]?.string == "APPLE" })?["id"]?.string
    else { throw ConformanceFailure("a subscription with seats in the store's list") }
    return id
  }

  /// Changes the seats of a payment. The result has the changed transaction, and the store's notification.
  func changeSeats(of paid: Paid, _ change: [String: JSONValue]) async throws -> Paid {
    var change = change
    change["transactionID"] = .string(paid.transactionID)
    let reply = try await ask("POST", "store/seats", .object(change))
    guard reply.status == 200, let notification = reply.json?["signedPayload"]?.string else {
      throw ConformanceFailure("a change of seats at the store: its notification")
    }
    var changed = paid
    changed.transactionID = reply.json?["transactionID"]?.string ?? paid.transactionID
    let data = JWSText.payload(of: notification)?["data"]
    changed.jws = data?["signedTransactionInfo"]?.string ?? paid.jws
    changed.notification = notification
    return changed
  }

  /// Gives a seat to another Apple ID. The result is the member's transaction.
  func assignSeat(of paid: Paid, to member: String, carriesToken: Bool) async throws -> Paid {
    _ = try await changeSeats(
      of: paid, ["assignTo": .string(member), "carriesToken": .bool(carriesToken)])
    return try await delivered(to: member, product: paid.productID)
  }
}
