/// Why a store adapter failed. Later versions may add cases.
@nonexhaustive
public enum StoreError: Error, Hashable, Sendable {
  // MARK: Before the payment: nothing was charged

  /// The store sells no product with this id here: not configured, not approved, or not in this country.
  case productUnavailable(productID: String)
  /// The store could not be asked for the product, mostly for lack of a network. No sheet was shown.
  case productUnreachable(reason: String)
  /// This system shows a payment sheet only in a scene that the app names, or not in the one that it named: pass the
  /// sheet. Nothing was charged.
  case noSheet
  /// The app could not make the options of a payment, such as the signature of an offer. Nothing was charged.
  case noOptions(reason: String)
  /// This person, or this device, is not allowed to buy: Screen Time, or who manages the device.
  case notAllowed
  /// The user is not eligible for the offer.
  case ineligible
  /// The store does not accept the offer: its identifier, price or signature, or a parameter is missing.
  case invalidOffer(reason: String)
  /// The store does not accept the payment's quantity, or another parameter.
  case invalidPayment(reason: String)
  /// The Apple Account needs a payment method first.
  case paymentMethodNeeded
  /// The app, or this system, cannot sell: an entitlement is missing, or the function does not exist here.
  case unsupported(reason: String)

  // MARK: Afterwards, or unknown

  /// The system answered a payment with a result that this version does not know. If the user was charged,
  /// the transaction comes with the store's updates.
  case unknownAnswer
  /// The payment sheet failed. If the user was charged, the transaction comes with the store's updates.
  case sheetFailed(reason: String)
  /// The app receipt cannot be read.
  case receiptUnreadable(reason: String)
  /// No new app receipt came: no network, or the user entered no password.
  case refreshFailed(reason: String)
  /// The store did not fetch what other devices bought: no network, or the user entered no password.
  case syncFailed(reason: String)

  /// Whether the payment did not begin, so that nothing was charged.
  var isBeforePayment: Bool {
    switch self {
    case .productUnavailable, .productUnreachable, .noSheet, .noOptions, .notAllowed, .ineligible,
      .invalidOffer,
      .invalidPayment, .paymentMethodNeeded, .unsupported:
      true
    case .unknownAnswer, .sheetFailed, .receiptUnreadable, .refreshFailed, .syncFailed: false
    }
  }
}

extension StoreError: CustomStringConvertible {
  /// The reason and what to do, without any part of a receipt.
  public var description: String {
    switch self {
    case .productUnavailable(let id):
      "the store sells no product \"\(id)\" here. Look at its state in App Store Connect"
    case .productUnreachable(let reason): "the store could not be asked for the product: \(reason)"
    case .noSheet:
      "this system shows no payment sheet by itself, or not there. Pass the sheet with the purchase"
    case .noOptions(let reason):
      "the options of the payment could not be made: \(reason). Nothing was charged"
    case .notAllowed: "this person or device is not allowed to buy"
    case .ineligible: "the user is not eligible for the offer"
    case .invalidOffer(let reason):
      "the store does not accept the offer: \(reason). Look at it in App Store Connect, and at its signature"
    case .invalidPayment(let reason): "the store does not accept the payment: \(reason)"
    case .paymentMethodNeeded: "the Apple Account needs a payment method first"
    case .unsupported(let reason): "the app cannot sell here: \(reason)"
    case .unknownAnswer:
      "the system answered a payment with an unknown result. If the user was charged, the store delivers it later"
    case .sheetFailed(let reason):
      "the payment sheet failed: \(reason). If the user was charged, the store delivers it later"
    case .receiptUnreadable(let reason): "the app receipt cannot be read: \(reason)"
    case .refreshFailed(let reason): "no new app receipt came: \(reason). Ask again when the user does"
    case .syncFailed(let reason):
      "the store did not fetch what other devices bought: \(reason). Ask again when the user does"
    }
  }
}

/// The texts of ``SyncError/storeRefused(_:)``.
extension StoreError {
  /// What happened.
  var text: String {
    switch self {
    case .productUnavailable: "The App Store does not sell this here."
    case .productUnreachable: "The App Store cannot be reached."
    case .notAllowed: "Purchases are not allowed on this device."
    case .ineligible: "This offer is not available to you."
    case .noOptions, .invalidOffer: "This offer is not available now."
    case .paymentMethodNeeded: "Your Apple Account needs a payment method."
    default: "The App Store cannot sell this now."
    }
  }

  /// What to do.
  var advice: String {
    switch self {
    case .productUnreachable: "Check your connection, and try again."
    case .notAllowed: "Allow purchases in Screen Time, or ask who manages this device."
    case .ineligible: "You can buy it without the offer."
    case .paymentMethodNeeded: "Add one in the settings of this device, and try again."
    default: "Try again later, or contact support."
    }
  }
}
