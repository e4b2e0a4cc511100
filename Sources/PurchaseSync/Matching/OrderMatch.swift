public import PurchaseQueue

/// To which order a transaction belongs, as far as the device can say, and whose it is.
///
/// | kind | what goes up | what it fulfils |
/// | --- | --- | --- |
/// | `bound` | the order's number | that order, for ever |
/// | `proposed` | candidates, the likeliest first, and the evidence | what the backend's verdict names |
/// | `none` | nothing | no order |
public struct OrderMatch: Sendable, Hashable {
  /// How sure it is.
  public enum Kind: Sendable, Hashable {
    /// It belongs to this order, and to no other. Never changes.
    case bound(orderNumber: String)
    /// It belongs to one of these orders or to none; the backend decides. At least one, the likeliest first.
    case proposed(candidates: [String])
    /// It fulfils no order.
    case none
  }

  /// How sure it is.
  public var kind: Kind
  /// Whose it is: the account's lane, or the device's if nobody is known.
  public var lane: Lane
  /// What the transaction is.
  public var transactionClass: TransactionClass
  /// Why, in the order in which it was found.
  public var evidence: [MatchEvidence]

  /// The order, if it is bound.
  public var orderNumber: String? {
    if case .bound(let number) = kind { number } else { nil }
  }

  /// The orders that come into question, if it is proposed; else none.
  public var candidates: [String] {
    if case .proposed(let candidates) = kind { candidates } else { [] }
  }

  /// The evidence as the wire protocol has it: words, separated by commas.
  public var evidenceText: String { evidence.map(\.rawValue).joined(separator: ",") }
}

/// One reason for a match.
@nonexhaustive
public enum MatchEvidence: String, Sendable, Hashable, Codable, CaseIterable {
  // MARK: bound

  /// The transaction was bound before, to this order.
  case boundBefore
  /// Its account token is that of the order, which is unbound and agrees in product and quantity.
  case accountToken

  // MARK: proposed

  /// Within the time of each candidate, by the backend's and the store's clocks, it was paid.
  case window
  /// There is one candidate.
  case onlyOpenOrder
  /// There are several: first those made before the payment, the last of them first, then those made just after it.
  case positionByTime
  /// There are more than are named.
  case moreCandidates
  /// In that time orders of several accounts were made for that product and quantity: it is in the device lane, and a
  /// backend does well to ask before it takes the first.
  case severalAccounts

  // MARK: none

  /// No order that is known here has its account token.
  case tokenUnknown
  /// The order of its account token is for another product or quantity.
  case tokenOrderDiffers
  /// Another transaction is bound to the order of its account token.
  case tokenOrderTaken
  /// The order of its account token belongs to another account than the lane in which it waits.
  case tokenOrderOfAnotherAccount
  /// It has no token, and no order for its product and quantity was open when it was paid.
  case noOpenOrder
  /// Its class fulfils no order.
  case fulfilsNoOrder

  // MARK: owner, without an order

  /// Its owner is the account of the order that its account token names.
  case ownerByToken
  /// Its owner is the account of its original transaction.
  case ownerByOriginal
  /// It waits in a lane already, and stays there.
  case ownerBefore
}
