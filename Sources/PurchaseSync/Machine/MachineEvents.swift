import PurchaseQueue

/// Why waiting lanes are looked at before their time.
public enum WakeReason: Sendable, Hashable {
  /// The app came to the foreground.
  case foreground
  /// The network is back.
  case networkBack
  /// The user asked for it: what no Retry-After holds is sent at once, and costs nothing of the retry budget.
  case userAsked
  /// There are credentials for this account, new ones or again.
  case signedIn(account: String)
}

extension WakeReason {
  /// What the requests are for that it brings. Only a person who asks is not limited by the budget: the app calls the
  /// others at each launch.
  var purpose: RetryBudget.Purpose { self == .userAsked ? .person : .retry }

  /// Whether it is about this account, or about all of them.
  func concerns(_ account: String) -> Bool {
    if case .signedIn(let other) = self { other == account } else { true }
  }
}

/// How a call of the store's finish ended.
package enum FinishEnd: Sendable, Hashable {
  /// The store took it.
  case finished
  /// The store does not list the transaction. The finish stays pending until the store account that bought it is back,
  /// or until a listing shows that it is done.
  case notListed
  /// The store failed, did not answer in time, or the call was cancelled by `suspend`.
  case failed
}

/// How a request that adopts the device's purchases ended.
package enum AdoptionEnd: Sendable, Hashable {
  /// The backend took it.
  case taken
  /// It failed, for one of the reasons of an upload.
  case failed(UploadFailure)
}
