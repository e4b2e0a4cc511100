/// One thing that a person does with the app.
enum AppStep: Hashable, Sendable {
  /// Buys as this account: an order, the payment sheet, and the transaction to the app.
  case buy(product: String, account: String)
  /// Buys without an order: before anybody is signed in.
  case buyWithoutOrder(product: String)
  /// Goes on in the app with what was begun on its page in the store, as this account.
  case buyPromoted(account: String)
  case signIn(account: String)
  case signOut(account: String)
  /// What the device bought belongs to this account from now on.
  case claim(account: String)
  /// Another Apple ID on the phone.
  case useStoreAccount(String)
  /// The phone's clock is set, by so many milliseconds.
  case jumpClock(milliseconds: Int64)
  /// No file can grow any more.
  case fillDisk
  /// Uses the app for so long, or until there is nothing left to do.
  case use(milliseconds: Int64)

  var isPurchase: Bool {
    switch self {
    case .buy, .buyWithoutOrder, .buyPromoted: true
    default: false
    }
  }

  /// Without the first purchases: they were charged already, and nobody pays twice.
  static func steps(_ steps: [AppStep], afterPurchases count: Int) -> [AppStep] {
    var left = count
    return steps.filter { step in
      guard step.isPurchase, left > 0 else { return true }
      left -= 1
      return false
    }
  }
}
