import PurchaseQueue
import PurchaseSync

extension BackendModel {
  /// Completes a settling verdict with the owner of the purchase, as the device may know it.
  ///
  /// The purchase of another account than the one that asks is `otherOwner`. Its verdict names no reason. It
  /// names no order to an account, which could list guesses, and to a device only one that the claim has named. A
  /// purchase of the account that is signed in on the device is `yours`, although the device uploads it.
  func tellOwner(in ruling: inout Ruling, of claim: Claim, to uploader: Uploader, signedIn: String?) {
    guard ruling.verdict.verdict.isSettled, let told = ruling.transaction else { return }
    let facts = purchase(TransactionKey(told))?.facts ?? told
    let owner = presentOwner(of: facts.grantKey) ?? heir(of: claim, facts, from: uploader)
    let word = Self.owner(owner, toldTo: uploader, signedIn: signedIn)
    ruling.verdict.owner = word
    let verdict = ruling.verdict.verdict
    if word == .another {
      if verdict == .granted || verdict == .duplicate { ruling.verdict.verdict = .otherOwner }
      ruling.verdict.reason = nil
      // How much of it another account got back is that account's.
      (ruling.verdict.refundedShare, ruling.verdict.refundedUnits) = (nil, nil)
      // A device proposes the orders that were made on it, and binds the purchase. An account only guesses.
      if let number = ruling.verdict.orderNumber, uploader.account != nil || !claim.names(number) {
        ruling.verdict.orderNumber = nil
      }
    } else if verdict == .otherOwner {
      ruling.verdict.verdict = ruling.isGrant ? .granted : .duplicate
    }
  }

  private static func owner(
    _ owner: Uploader, toldTo uploader: Uploader, signedIn: String?
  ) -> PurchaseOwner {
    switch (owner, uploader) {
    case (.device, .device) where owner == uploader: .device
    case (.account, .account) where owner == uploader: .yours
    case (.account(let account), .device) where account == signedIn: .yours
    default: .another
    }
  }

  /// The owner that a transaction without a credit would have: it has lapsed, or was refunded first.
  func heir(of claim: Claim, _ facts: VerifiedTransaction, from uploader: Uploader) -> Uploader {
    switch destination(of: claim, facts, from: uploader) {
    case .order(let order): .account(order.account)
    case .owner(.device(let device), _): adopter(of: device, chargedAt: facts.purchaseDate)
    case .owner(let owner, _): owner
    }
  }
}

extension Claim {
  /// Whether the device knows this order: it has claimed it.
  fileprivate func names(_ order: String) -> Bool {
    orderNumber == order || candidates?.contains(order) == true
  }
}

extension Ruling {
  /// Whether it credits the transaction now, or moves the credit to its owner.
  fileprivate var isGrant: Bool {
    isForNewOwner
      || writes.contains { write in
        if case .credit = write { true } else { false }
      }
  }
}
