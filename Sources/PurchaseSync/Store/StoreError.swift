/// Why an adapter of the store could not do what it was asked for. More cases may come with later versions.
@nonexhaustive
public enum StoreError: Error, Hashable, Sendable {
  /// The store sells no product of that id here: not configured, not approved, or not in this country.
  case productUnavailable(productID: String)
  /// The system answered a payment with something that this version doesn't know. If it was charged, the transaction
  /// comes with the store's updates.
  case unknownAnswer
  /// The app receipt cannot be read.
  case receiptUnreadable(reason: String)
  /// No new app receipt came: no network, or the user gave no password.
  case refreshFailed(reason: String)
}

extension StoreError: CustomStringConvertible {
  /// What, and what to do; without anything of a receipt.
  public var description: String {
    switch self {
    case .productUnavailable(let id):
      "the store sells no product \"\(id)\" here. Look at its state in App Store Connect"
    case .unknownAnswer:
      "the system's answer to a payment is not known to this version. If it was charged, the store delivers it later"
    case .receiptUnreadable(let reason): "the app receipt cannot be read: \(reason)"
    case .refreshFailed(let reason): "no new app receipt came: \(reason). Ask again when the user does"
    }
  }
}
