import AppStoreReceipts
import Foundation
import PurchaseSyncTesting

extension ConformanceCheck {
  private static let rows = ConformanceSource.yourBackend("Who gets it")

  /// Whose the transactions of a bundle are, if only one of them, or none, names the payer.
  static let bundleOwners: [ConformanceCheck] = [
    ConformanceCheck(
      "bundle-named", "a subscription of a bundle is the account's that another one names by its token", rows
    ) { lab in
      // Her order is for something else, so it is not fulfilled: only the token says whose the payment is.
      let order = try await lab.order()
      let members = try await lab.payBundle(token: order.token)
      let other = try await lab.restated(members[1], ["appAccountToken": .null])
      try await lab.settle(other, as: .bob, to: "granted")
      try await lab.settle(members[0], to: "granted")
      try await lab.belongsToAlice(other)
    },
    ConformanceCheck(
      "bundle-bound-stays",
      "what a claimed order has of a bundle stays when another one is claimed for another",
      rows
    ) { lab in
      let bundle = try await lab.bundleID()
      let (alices, bobs) = (
        try await lab.order(product: bundle), try await lab.order(as: .bob, product: bundle)
      )
      let members = try await lab.payBundle(token: nil)
      try await lab.settle(members[0], order: alices.number, to: "granted")
      try await lab.settle(members[1], order: bobs.number, as: .bob, to: "granted")
      try await lab.belongsToAlice(members[0])
      try await lab.expectState("delivered", of: alices.number)
    },
    ConformanceCheck(
      "bundle-fulfilled", "a subscription of a bundle is the account's whose order another one fulfils", rows
    ) { lab in
      let order = try await lab.order(product: try await lab.bundleID())
      let members = try await lab.payBundle(token: nil)
      try await lab.settle(members[1], as: .bob, to: "granted")
      try await lab.settle(members[0], order: order.number, to: "granted")
      try await lab.belongsToAlice(members[1])
    },
    ConformanceCheck(
      "bundle-payer", "a subscription of a bundle is the account's that has another one", rows
    ) { lab in
      let members = try await lab.payBundle(token: nil)
      try await lab.settle(members[0], to: "granted")
      try await lab.settle(members[1], as: .bob, to: "otherOwner")
      try await lab.belongsToAlice(members[1])
    },
    ConformanceCheck(
      "bundle-guess", "a proposed order of a bundle waits again if another one is claimed for another order",
      rows
    ) { lab in
      let order = try await lab.order(product: try await lab.bundleID())
      try await guessGivesWay(lab, token: nil) { members in
        try await lab.settle(members[0], order: order.number, to: "granted")
      }
      try await lab.expectState("delivered", of: order.number)
    },
    ConformanceCheck(
      "bundle-guess-named", "a proposed order of a bundle waits again if another one names another account",
      rows
    ) { lab in
      let order = try await lab.order(product: try await lab.bundleID())
      try await guessGivesWay(lab, token: order.token) { members in
        try await lab.settle(members[0], to: "granted")
      }
      try await lab.expectState("delivered", of: order.number)
    },
    ConformanceCheck("bundle-one-order", "a bundle fulfils one order, whatever its tokens name", rows) {
      lab in
      let bundle = try await lab.bundleID()
      let (first, second) = (try await lab.order(product: bundle), try await lab.order(product: bundle))
      let members = try await lab.payBundle(token: first.token)
      let other = try await lab.restated(members[1], ["appAccountToken": .string(second.token)])
      try await lab.settle(members[0], to: "granted")
      try await lab.settle(other, to: "granted", "duplicate")
      try await lab.expectState("delivered", of: first.number)
      try await lab.expectState("open", of: second.number)
    },
  ]

  /// Another account's order is fulfilled by a guess until `names` says whose the payment is.
  private static func guessGivesWay(
    _ lab: ConformanceLab, token: String?,
    _ names: @Sendable ([ConformanceLab.Paid]) async throws -> Void
  ) async throws {
    let guess = try await lab.order(as: .bob, product: try await lab.bundleID())
    let members = try await lab.payBundle(token: token)
    let other = try await lab.restated(members[1], ["appAccountToken": .null])
    try await lab.settle(other, proposing: [guess], as: .bob, to: "granted")
    try await names(members)
    try await lab.belongsToAlice(other)
    let state = try await lab.state(of: guess.number, as: .bob)
    try expect(state == "open", "the order that was only proposed waits again: open")
  }
}

extension ConformanceLab {
  /// Throws unless a purchase is alice's, and not bob's.
  fileprivate func belongsToAlice(_ paid: Paid) async throws {
    let (mine, others) = (
      try await told(paid, as: .alice, device: UUID()), try await told(paid, as: .bob, device: UUID())
    )
    try expect(mine["owner"]?.string == "yours", "the owner yours for the account that has paid")
    try expect(others["verdict"]?.string == "otherOwner", "otherOwner for another account")
  }
}
