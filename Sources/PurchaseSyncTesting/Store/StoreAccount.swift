/// The settings of an Apple ID in the model of the store.
public struct StoreAccount: Sendable, Hashable, Codable {
  /// Whether a parent has to approve its purchases (Ask to Buy).
  public var asksToBuy = false
  /// Whether it can be charged. Changed by ``StoreModel/setBilling(works:storeAccount:now:)``, which also charges
  /// failed renewals.
  public internal(set) var billingWorks = true
  /// How many of its next purchases are interrupted, for example by new terms.
  public var interruptedPurchases = 0
  /// The store accounts of its family, which get its shareable purchases.
  public internal(set) var family: [String] = []

  /// An account without obstacles to a purchase.
  public init() {}
}

extension StoreModel {
  /// The settings of a store account; the default settings for an unknown one.
  public func account(_ storeAccount: String) -> StoreAccount { accounts[storeAccount] ?? StoreAccount() }

  /// Changes the conditions of an account's purchases; nil leaves a condition as it is.
  public mutating func setAccount(
    _ storeAccount: String, asksToBuy: Bool? = nil, interruptedPurchases: Int? = nil
  ) {
    if let asksToBuy { settings[storeAccount, default: StoreAccount()].asksToBuy = asksToBuy }
    if let interruptedPurchases {
      settings[storeAccount, default: StoreAccount()].interruptedPurchases = interruptedPurchases
    }
  }
}
