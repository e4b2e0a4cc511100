import PurchaseSyncTesting
import ScenarioFormat

/// Subscriptions for several people: more seats, members, and refunds of seats.
extension Scenario {
  private static let team = "team.monthly"
  private static let member = "bobs-apple-id"

  private static func buyTeam(_ seats: Int) -> AppStep {
    .buy(product: team, account: alice, quantity: seats)
  }

  /// Bob's phone, with his own Apple ID: he takes over what is on it.
  private static let taken: [AppStep] = [
    .useStoreAccount(member), .use(milliseconds: 60), .adopt(account: "bob"),
  ]

  static let seats: [Scenario] = [
    Scenario(
      name: "seats-added", summary: "two seats more while the backend is down; a kill after the payment",
      description: """
        Alice has three seats. After ten days she asks for five in all, and the store charges two, for the rest of the \
        period. Both payments are hers, each with its own order.
        """,
      attacks: "apps and backends that compare the quantity of an order with that of its transaction",
      proves: ["R4.5", "invariant 2", "invariant 43"],
      launches: [
        Launch(signedIn: [alice], does: [buyTeam(3)]),
        Launch(before: [.days(10), .outage()], signedIn: [alice], does: [buyTeam(5)], killed: .afterPayment),
        Launch(before: [.noFaults], signedIn: [alice]),
      ], expects: .init(paid: 2, orders: ["delivered": 2], ofDevices: 0)),
    Scenario(
      name: "seats-refunded", summary: "two of five seats are refunded: nothing ends",
      description: """
        Apple refunds seats, and the transaction has no date of a refund. Three seats are left, and alice keeps her \
        access. The app is killed when the backend has answered.
        """,
      attacks: "backends that take everything back for each notification of a refund",
      proves: ["R3.8", "invariant 22", "invariant 43"],
      launches: [
        Launch(signedIn: [alice], does: [buyTeam(5)]),
        Launch(
          before: [.days(1), .seat(.refunded(purchase: 1, count: 2))], signedIn: [alice], killed: .afterGrant),
        Launch(signedIn: [alice]),
      ], expects: .init(paid: 1, verdicts: ["refunded": 0, "duplicate": 1])),
    Scenario(
      name: "seat-with-a-token", summary: "a member's transaction carries the purchaser's token",
      description: """
        Alice pays for three seats and gives bob one. The transaction on his phone has her token: it fulfils no order \
        of hers, and is his.
        """,
      attacks: "apps and backends that find the buyer by the token alone",
      proves: ["R4.5", "invariant 6", "invariant 45"],
      launches: [
        Launch(signedIn: [alice], does: [buyTeam(3)]),
        Launch(
          before: [.seat(.assigned(purchase: 1, to: member, carriesToken: true))], signedIn: ["bob"],
          does: taken, killed: .beforeFinish, phone: "bobs phone"),
        Launch(signedIn: ["bob"], does: taken, phone: "bobs phone"), Launch(signedIn: [alice]),
      ], expects: .init(paid: 1, orders: ["delivered": 1], ofDevices: 0)),
    Scenario(
      name: "seat-before-its-purchase",
      summary: "a member's seat is uploaded before what was paid for it",
      description: """
        Alice pays, and her app is killed before it sends anything. The store gives bob his seat at once. His phone \
        comes first.
        """,
      attacks: "backends that give a purchase to who comes first",
      proves: ["R4.5", "invariant 1", "invariant 45"],
      launches: [
        Launch(signedIn: [alice], does: [buyTeam(3)], killed: .afterPayment),
        Launch(
          before: [.seat(.assigned(purchase: 1, to: member, carriesToken: true))], signedIn: ["bob"],
          does: taken, phone: "bobs phone"),
        Launch(signedIn: [alice]),
      ], expects: .init(paid: 1, orders: ["delivered": 1], ofDevices: 0)),
    Scenario(
      name: "seat-taken-back", summary: "a member loses the seat, and its purchaser nothing",
      description: "The store revokes the member's transaction. It is the member's loss alone.",
      attacks: "backends that end the subscription with one of its seats",
      proves: ["R3.8", "invariant 22", "invariant 45"],
      launches: [
        Launch(signedIn: [alice], does: [buyTeam(3)]),
        Launch(
          before: [.seat(.assigned(purchase: 1, to: member, carriesToken: false))], signedIn: ["bob"],
          does: taken, phone: "bobs phone"),
        Launch(
          before: [.days(2), .seat(.taken(purchase: 1, from: member))], signedIn: ["bob"],
          phone: "bobs phone"),
        Launch(signedIn: [alice]),
      ], expects: .init(paid: 1, verdicts: ["refunded": 1])),
    Scenario(
      name: "fewer-seats-renew", summary: "five seats, and two of them renew; one phone, two Apple IDs",
      description: """
        Alice has given bob a seat and reduces the group. At the renewal there are two seats: hers and his. Bob uses \
        her phone with his own Apple ID.
        """,
      attacks: "apps that give each transaction on a phone to the account that bought there before",
      proves: ["R3.4", "invariant 6", "invariant 45"],
      launches: [
        Launch(signedIn: [alice], does: [buyTeam(5)]),
        Launch(
          before: [
            .seat(.assigned(purchase: 1, to: member, carriesToken: true)),
            .seat(.renewing(purchase: 1, count: 2)), .days(31),
          ], signedIn: ["bob"], does: taken + [.use(milliseconds: 200)]),  // Alice's part waits for her.
        Launch(before: [.storeAccount(storeAccount)], signedIn: [alice]),
      ], expects: .init(paid: 2, orders: ["delivered": 1])),
  ]
}
