import AppStoreReceipts
package import PurchaseSyncTesting

/// The products of the mock store: at least one of each kind.
package enum ServedProducts {
  private static let day: Int64 = 86_400_000

  package static var all: [StoreProduct] {
    [
      StoreProduct(id: "gems.100", kind: .consumable), StoreProduct(id: "coins.500", kind: .consumable),
      StoreProduct(id: "unlock", kind: .nonConsumable), shared,
      StoreProduct(id: "season", kind: .nonRenewing),
      plan("basic.monthly", level: 2, days: 30, price: 4_990),
      plan("basic.yearly", level: 2, days: 365, price: 49_990),
      plan("premium.monthly", level: 1, days: 30, price: 9_990, trialDays: 7), bundle, instalments,
      team("team.monthly", invitedBy: .apple), team("crew.monthly", invitedBy: .developer),
    ]
  }

  /// A subscription that is sold alone, too, one that is not, and one of another app.
  private static var bundle: StoreProduct {
    StoreProduct(
      bundle: "plus.monthly",
      of: [.init("basic.monthly"), .init("press.monthly"), .init("radio.monthly", of: "com.partner.radio")],
      groupID: "bundles", period: .milliseconds(30 * day), price: 12_990)
  }

  /// A subscription for several people, which is alone in its group.
  private static func team(_ id: String, invitedBy host: InvitationManagement) -> StoreProduct {
    var product = StoreProduct(
      subscription: id, groupID: id, period: .milliseconds(30 * day), price: 7_990,
      gracePeriod: .milliseconds(6 * day))
    product.invitations = host
    return product
  }

  private static var shared: StoreProduct {
    var product = StoreProduct(id: "unlock.family", kind: .nonConsumable)
    product.isFamilyShareable = true
    return product
  }

  /// A year that is paid monthly, in a group of its own.
  private static var instalments: StoreProduct {
    var product = StoreProduct(
      subscription: "club.monthly", groupID: "club", period: .milliseconds(30 * day), price: 3_990)
    product.commitment = 12
    return product
  }

  /// All other subscriptions are in one group; level 1 is the highest.
  private static func plan(
    _ id: String, level: Int, days: Int64, price: Int64, trialDays: Int64? = nil
  ) -> StoreProduct {
    StoreProduct(
      subscription: id, groupID: "plans", level: level, period: .milliseconds(days * day), price: price,
      gracePeriod: .milliseconds(6 * day),
      trial: trialDays.map { .milliseconds($0 * day) })
  }
}
