public import PurchaseQueue

/// The order to which a transaction belongs, as far as the device can say, and the transaction's owner.
///
/// | kind | uploaded with the claim | fulfils |
/// | --- | --- | --- |
/// | `bound` | the order's number | that order, permanently |
/// | `proposed` | candidates, the most likely first, and the evidence | the order that the backend's verdict names |
/// | `none` | nothing | no order |
public struct OrderMatch: Sendable, Hashable {
  /// How certain the match is.
  public enum Kind: Sendable, Hashable {
    /// The transaction belongs to this order and to no other. Never changes.
    case bound(orderNumber: String)
    /// The transaction belongs to one of these orders or to none; the backend decides. At least one, the most
    /// likely first.
    case proposed(candidates: [String])
    /// The transaction fulfils no order.
    case none
  }

  /// How certain the match is.
  public var kind: Kind
  /// The owner's lane: an account's, or the device's if no owner is known.
  public var lane: Lane
  /// The class of the transaction.
  public var transactionClass: TransactionClass
  /// The reasons, in the order in which they were found.
  public var evidence: [MatchEvidence]

  /// The order's number, if the transaction is bound.
  public var orderNumber: String? {
    if case .bound(let number) = kind { number } else { nil }
  }

  /// The candidate orders, if the transaction is proposed; otherwise empty.
  public var candidates: [String] {
    if case .proposed(let candidates) = kind { candidates } else { [] }
  }

  /// The evidence in the form of the wire protocol: words separated by commas.
  package var evidenceText: String { evidence.map(\.rawValue).joined(separator: ",") }
}

/// One reason for a match.
@nonexhaustive
public enum MatchEvidence: String, Sendable, Hashable, Codable, CaseIterable {
  // MARK: bound

  /// The transaction was already bound to this order.
  case boundBefore
  /// The transaction has the account token of the order, or of each candidate. They are unbound and agree in product and
  /// quantity; the product is that of the bundle, if the store sold one.
  case accountToken

  // MARK: proposed

  /// The payment is within the span of each candidate, by the backend's and the store's clocks.
  case window
  /// There is one candidate.
  case onlyOpenOrder
  /// There are several candidates. Orders made before the payment come first, latest first; then those made
  /// just after it.
  case positionByTime
  /// There are more candidates than the list names.
  case moreCandidates
  /// Several accounts made orders for that product and quantity in the span. The transaction is in the device
  /// lane. The backend should ask before it takes the first candidate.
  case severalAccounts

  // MARK: none

  /// No known order has the account token.
  case tokenUnknown
  /// The orders of its account token are for another product or quantity: the account gets what was paid, and they stay as
  /// they are.
  case tokenOrderDiffers
  /// Other transactions are bound to the orders of its account token, or those were made after the payment.
  case tokenOrderTaken
  /// The order of the account token belongs to another account than the lane in which the transaction waits.
  case tokenOrderOfAnotherAccount
  /// The transaction has no token, and no order for its product and quantity was open at the payment.
  case noOpenOrder
  /// The store signed it without a token: it was not paid through the sheet of an order.
  case notFromSheet
  /// A transaction of this class fulfils no order.
  case fulfilsNoOrder

  // MARK: owner, without an order

  /// The owner is the account of the order that the account token names.
  case ownerByToken
  /// The owner is the account of the original transaction.
  case ownerByOriginal
  /// The owner is the account that paid for the bundle: another transaction of the same payment is its.
  case ownerByBundle
  /// The transaction already waits in a lane and stays there.
  case ownerBefore
  /// No order here has its token, and the app is asked whose it is (``SyncConfiguration/accountForToken``).
  case appIsAsked
  /// The app named the account of its token.
  case ownerNamedByApp
  /// It names no owner, and by the app's policy it is the account's that was signed in when it arrived.
  case ownerSignedIn
  /// It names no owner, and by the app's policy its user is to be asked. Until then it is the device's.
  case ownerAsked
  /// A guest has paid: it is the device's, until an account adopts it.
  case guest
  /// The list of an earlier version of the app says whose it is, and for which order.
  case imported
}

/// The effect of a verdict's order number on a binding.
package enum VerdictBinding: Sendable, Hashable {
  /// No change: the verdict names no order, or the one that is already bound.
  case keep
  /// The transaction is bound to this order from now on. Commit the binding with the settlement.
  case bind(orderNumber: String)
  /// The number contradicts the binding in this file, and the binding stays. Report it. The verdict itself
  /// counts: the backend has granted the purchase.
  case contradiction(reason: String)

  /// The most bytes of an order's number that a verdict may name: it is stored.
  static var longestNumber: Int { 256 }

  /// Decides by the facts in this file. `order` is the order that the verdict names; nil if the journal does
  /// not have it, for instance because it was made on another device. `holder` is the transaction that
  /// already has such an order. `productID` is what was sold: of a subscription in a bundle, the bundle. An order has one
  /// transaction of a bundle's payment; on another device it may be another one, which contradicts nothing. `quantity` is
  /// nil for a subscription: any number of seats pays its order. What another person has paid pays none.
  package init(
    verdictOrder number: String?, of key: EntryKey, productID: String, quantity: Int?,
    isOfBundle: Bool = false, isOfAnotherPayer: Bool = false,
    known: KnownTransaction?, order: OrderFacts?, holder: EntryKey? = nil
  ) {
    guard let number else {
      self = .keep
      return
    }
    guard number.utf8.count <= Self.longestNumber else {
      self = .contradiction(reason: "the number of the order has \(number.utf8.count) bytes")
      return
    }
    if let bound = known?.orderNumber {
      self = bound == number ? .keep : .contradiction(reason: "it is bound to another order")
    } else if isOfAnotherPayer {
      self = .contradiction(reason: "another person has paid it, and not for this order")
    } else if let order, order.productID != productID || order.quantity != quantity ?? order.quantity {
      self = .contradiction(reason: "the order is for another product or quantity")
    } else if let other = order?.boundTo ?? holder, other != key {
      self = isOfBundle ? .keep : .contradiction(reason: "another transaction is bound to the order")
    } else {
      self = .bind(orderNumber: number)
    }
  }
}
