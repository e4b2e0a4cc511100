/// One thing that a person does with the app.
package enum AppStep: Hashable, Sendable {
  /// Buys under this account: an order, the payment sheet, and the transaction for the app.
  case buy(product: String, account: String, quantity: Int = 1)
  /// Buys without an order, before sign-in.
  case buyWithoutOrder(product: String)
  /// Pays in the app, under this account, what was started on the app's page in the store.
  case buyPromoted(account: String)
  case signIn(account: String)
  case signOut(account: String)
  /// This account adopts the purchases of the device.
  case adopt(account: String)
  /// Taps 'restore purchases'.
  case restore
  /// Signs in to the store with another Apple ID.
  case useStoreAccount(String)
  /// The phone's clock is moved by so many milliseconds.
  case jumpClock(milliseconds: Int64)
  /// No file can grow any more.
  case fillDisk
  /// Uses the app for so long, or until nothing is left to do.
  case use(milliseconds: Int64)
  /// Opens so many payment sheets under this account and closes each; the app does not inform the engine.
  case dismissSheets(product: String, account: String, count: Int)
  /// Buys under this account. The store's update comes before the answer of the sheet.
  case buyHeardFirst(product: String, account: String)
  /// The app confirms no outcome in this launch from now on.
  case neverConfirm
  /// No request reaches the backend any more; the store can be reached.
  case goOffline
  /// The phone joins a network that answers each request to the backend with its sign-in page. `goOnline` is the sign-in.
  case meetPortal
  /// The network is back, and the system says so to the app.
  case goOnline
  /// Taps 'try again' so many times.
  case tap(count: Int)

  package var isPurchase: Bool {
    switch self {
    case .buy, .buyWithoutOrder, .buyPromoted, .buyHeardFirst: true
    default: false
    }
  }

  /// Whether other purchases can be delivered after it than before.
  package var changesWhatCanBeDelivered: Bool {
    switch self {
    case .signIn, .signOut, .adopt, .restore, .useStoreAccount, .fillDisk, .goOffline, .meetPortal, .goOnline:
      true
    default: false
    }
  }

  /// The steps without the first purchases, which were charged already.
  package static func steps(_ steps: [AppStep], afterPurchases count: Int) -> [AppStep] {
    var left = count
    return steps.filter { step in
      guard step.isPurchase, left > 0 else { return true }
      left -= 1
      return false
    }
  }
}
