/// Why a store adapter failed. Later versions may add cases.
@nonexhaustive
public enum StoreError: Error, Hashable, Sendable {
  /// The store sells no product with this id here: not configured, not approved, or not in this country.
  case productUnavailable(productID: String)
  /// The system answered a payment with a result that this version does not know. If the user was charged,
  /// the transaction comes with the store's updates.
  case unknownAnswer
  /// This system shows a payment sheet only in a scene that the app names: pass the sheet. Nothing was charged.
  case noSheet
  /// The app could not make the options of a payment, such as the signature of an offer. Nothing was charged.
  case noOptions(reason: String)
  /// The app receipt cannot be read.
  case receiptUnreadable(reason: String)
  /// No new app receipt came: no network, or the user entered no password.
  case refreshFailed(reason: String)
  /// The store did not fetch what other devices bought: no network, or the user entered no password.
  case syncFailed(reason: String)

  /// Whether the payment sheet was not shown, so that nothing was charged.
  var isBeforePayment: Bool {
    switch self {
    case .productUnavailable, .noSheet, .noOptions: true
    case .unknownAnswer, .receiptUnreadable, .refreshFailed, .syncFailed: false
    }
  }
}

extension StoreError: CustomStringConvertible {
  /// The reason and what to do, without any part of a receipt.
  public var description: String {
    switch self {
    case .productUnavailable(let id):
      "the store sells no product \"\(id)\" here. Look at its state in App Store Connect"
    case .unknownAnswer:
      "the system answered a payment with an unknown result. If the user was charged, the store delivers it later"
    case .noSheet: "this system shows no payment sheet by itself. Pass the sheet with the purchase"
    case .noOptions(let reason):
      "the options of the payment could not be made: \(reason). Nothing was charged"
    case .receiptUnreadable(let reason): "the app receipt cannot be read: \(reason)"
    case .refreshFailed(let reason): "no new app receipt came: \(reason). Ask again when the user does"
    case .syncFailed(let reason):
      "the store did not fetch what other devices bought: \(reason). Ask again when the user does"
    }
  }
}
