import AppStoreReceipts
import Foundation
import PurchaseSyncTesting

extension ConformanceCheck {
  private static let bundleSold = ConformanceSource.yourBackend("If a bundle is sold")

  /// Bundles of subscriptions: one payment, one order, several transactions.
  static let bundles: [ConformanceCheck] = [
    ConformanceCheck(
      "bundle-order", "an order of a bundle is paid by a transaction of a subscription in it", bundleSold
    ) { lab in
      let order = try await lab.order(product: try await lab.bundleID())
      let members = try await lab.payBundle(token: order.token)
      let word = try await lab.settled(members[0], order: order.number)
      try expect(word == "granted", "granted")
      let state = try await lab.state(of: order.number)
      try expect(state == "delivered", "the order is delivered")
    },
    ConformanceCheck(
      "bundle-members", "each subscription of a bundle is credited once, and the order once", bundleSold
    ) { lab in
      let order = try await lab.order(product: try await lab.bundleID())
      let members = try await lab.payBundle(token: order.token)
      let before = try await lab.held(by: .alice, members)
      for round in 0..<2 {
        for member in members {
          let word = try await lab.settled(member, order: round == 0 ? order.number : nil)
          try expect(word == "granted" || round > 0 && word == "duplicate", "granted, then duplicate")
        }
      }
      let after = try await lab.held(by: .alice, members)
      try expect(after == before.map { $0 + 1 }, "one of each subscription more: \(before.map { $0 + 1 })")
    },
    ConformanceCheck(
      "bundle-without-token",
      "a subscription of a bundle without a token belongs to the account that paid for the bundle", bundleSold
    ) { lab in
      let order = try await lab.order(product: try await lab.bundleID())
      let members = try await lab.payBundle(token: nil)
      let before = try await lab.held(by: .alice, members)
      // The sheet has returned the first one; the device uploads the other, before it and after it.
      let device = UUID()
      _ = try await lab.settled(members[1], as: .device(device), device: device)
      _ = try await lab.settled(members[0], order: order.number, device: device)
      let moved = try await lab.held(by: .alice, members)
      try expect(moved == before.map { $0 + 1 }, "also the one that the device had: \(before.map { $0 + 1 })")
      let word = try await lab.settled(members[1], as: .device(device), device: device)
      try expect(word != "pending" && word != "rejected", "a verdict that settles it")
      let after = try await lab.held(by: .alice, members)
      try expect(after == before.map { $0 + 1 }, "one of each subscription more: \(before.map { $0 + 1 })")
    },
    ConformanceCheck(
      "bundle-replaces", "the switch from a subscription to a bundle is no refund", bundleSold
    ) { lab in
      let apple = await lab.unique("apple")
      let bundle = try await lab.bundleID()
      let plan = try await lab.members(of: bundle)[0]
      let old = try await lab.withClock(movedBy: -600_000) {
        try await lab.pay(token: nil, storeAccount: apple, product: plan)
      }
      _ = try await lab.settled(old)
      let order = try await lab.order(product: bundle)
      let members = try await lab.payBundle(token: order.token, storeAccount: apple)
      for member in members { _ = try await lab.settled(member, order: order.number) }
      let held = try await lab.held(by: .alice, members)
      let replaced = try await lab.delivered(to: apple, id: old)
      let word = try await lab.settled(replaced)
      try expect(word == "granted" || word == "duplicate", "granted, or duplicate")
      let after = try await lab.held(by: .alice, members)
      try expect(after == held, "what the bundle gives: \(held)")
    },
    ConformanceCheck(
      "bundle-elsewhere", "a product that only another app's bundle sells is credited to who uploads it",
      bundleSold
    ) { lab in
      let product = await lab.unique("unheard")
      let sold = try await lab.sellElsewhere(product)
      let word = try await lab.settled(sold, as: .bob)
      try expect(word == "granted", "granted")
      let held = try await lab.held(by: .bob, of: product)
      try expect(held == 1, "1")
    },
  ]
}

extension ConformanceLab {
  /// A bundle of two or more subscriptions of this app.
  func bundleID() async throws -> String {
    for product in try await allProducts() where product["kind"]?.string == "Subscription Bundle" {
      if let id = product["id"]?.string, try await members(of: id).count > 1 { return id }
    }
    throw ConformanceFailure("a bundle of two subscriptions of this app in the store's list")
  }

  /// The subscriptions of a bundle that are this app's.
  func members(of bundle: String) async throws -> [String] {
    let product = try await allProducts().first { $0["id"]?.string == bundle }
    return (product?["members"]?.array ?? []).filter { $0["bundleID"]?.string == nil }
      .compactMap { $0["productID"]?.string }
  }

  /// Pays for the bundle. Returns its transactions; the first is the one that the sheet returns.
  func payBundle(token: String?, storeAccount: String? = nil) async throws -> [Paid] {
    let (apple, bundle) = (storeAccount ?? unique("apple"), try await bundleID())
    let paid = try await pay(token: token, storeAccount: apple, product: bundle)
    let products = try await members(of: bundle)
    var members: [Paid] = []
    for product in products { members.append(try await delivered(to: apple, product: product)) }
    guard members.contains(where: { $0.transactionID == paid.transactionID }) else {
      throw ConformanceFailure("the paid transaction among those that the store delivers")
    }
    return members
  }

  /// How many of each subscription the account has that is not sold alone: of those, other checks buy and end some.
  func held(by caller: Caller, _ members: [Paid]) async throws -> [Int64] {
    let alone = Set(try await allProducts().compactMap { $0["id"]?.string })
    var held: [Int64] = []
    for member in members where !alone.contains(member.productID) {
      held.append(try await self.held(by: caller, of: member.productID))
    }
    guard !held.isEmpty else { throw ConformanceFailure("a subscription that is only sold in a bundle") }
    return held
  }

  /// Another app sells a bundle with one subscription of this app.
  func sellElsewhere(_ product: String) async throws -> Paid {
    let apple = unique("apple")
    let sale: JSONValue = [
      "storeAccount": .string(apple), "productID": "partners.monthly", "members": .array([.string(product)]),
    ]
    let reply = try await ask("POST", "store/bundles", sale)
    try expect(reply.status == 200, "200 of the store, for a bundle")
    return try await delivered(to: apple, product: product)
  }

  /// The present state of an unfinished transaction.
  func delivered(to storeAccount: String, id paid: Paid) async throws -> Paid {
    let reply = try await ask("GET", "store/unfinished?storeAccount=\(storeAccount)")
    let told = reply.json?["transactions"]?.array?.last { $0["transactionID"]?.string == paid.transactionID }
    guard let jws = told?["proof"]?.string else {
      throw ConformanceFailure("transaction \(paid.transactionID) among those that the store delivers")
    }
    var present = paid
    present.jws = jws
    return present
  }
}
