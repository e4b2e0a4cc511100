/// What the model of the store knows of an Apple ID beyond what it bought.
public struct StoreAccount: Sendable, Hashable, Codable {
  /// Whether somebody else has to agree to its purchases (Ask to Buy).
  public var asksToBuy = false
  /// Whether its way of paying works. Changed by ``StoreModel/setBilling(works:storeAccount:now:)``, since repairing it
  /// lets renewals that failed go through.
  public internal(set) var billingWorks = true
  /// How many of its next purchases are interrupted, by new terms that have to be agreed to, say.
  public var interruptedPurchases = 0
  /// The store accounts of its family, which get what can be shared.
  public internal(set) var family: [String] = []

  /// Somebody who pays without trouble.
  public init() {}
}

extension StoreModel {
  /// What is known of a store account; one that nobody set up pays without trouble.
  public func account(_ storeAccount: String) -> StoreAccount { accounts[storeAccount] ?? StoreAccount() }

  /// Changes what somebody has to do, or is let do, before a purchase.
  public mutating func setAccount(
    _ storeAccount: String, asksToBuy: Bool? = nil, interruptedPurchases: Int? = nil
  ) {
    if let asksToBuy { accounts[storeAccount, default: StoreAccount()].asksToBuy = asksToBuy }
    if let interruptedPurchases {
      accounts[storeAccount, default: StoreAccount()].interruptedPurchases = interruptedPurchases
    }
  }
}
