package import PurchaseSyncTesting

/// What happens with a bundle of subscriptions, while the app does not run.
package enum BundleStep: Hashable {
  /// Which transactions of later payments have the account token.
  case tokens(BundleTokens)
  /// The subscription of the n-th charge leaves its bundle with the end of its period: it renews alone, or ends.
  case left(purchase: Int, keeps: Bool)
  /// Another app sells a bundle with these subscriptions of this app to this Apple ID.
  case elsewhere(members: [String], storeAccount: String)

  /// For a report.
  package var words: String {
    switch self {
    case .tokens(.all): "each transaction of a bundle has the token"
    case .tokens(.first): "one transaction of a bundle has the token"
    case .tokens(.none): "no transaction of a bundle has the token"
    case .left(let number, let keeps):
      "charge \(number) leaves its bundle, and \(keeps ? "renews alone" : "ends with its period")"
    case .elsewhere(let members, let account):
      "another app sells \(account) a bundle with \(members.joined(separator: ", "))"
    }
  }
}
