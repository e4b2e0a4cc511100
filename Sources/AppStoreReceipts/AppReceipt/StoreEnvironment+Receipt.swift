extension StoreEnvironment {
  /// The environment for the receipt type (attribute 0) of an app receipt; see `AppReceipt.environment`.
  package init(receiptType: String) {
    if receiptType.hasSuffix("Sandbox") {
      self = .sandbox
    } else if receiptType.hasPrefix("Production") {
      self = .production
    } else {
      self.init(rawValue: receiptType)
    }
  }

  /// The environment by the path of the receipt's file, without reading it: sandbox for a file named
  /// `sandboxReceipt`, production for a file named `receipt` in a folder `StoreKit`; nil for any other.
  ///
  /// A hint for when the contents are not available (R4.2). TestFlight and Xcode also use `sandboxReceipt`;
  /// on macOS every receipt is `_MASReceipt/receipt`. If the contents are available, use
  /// `AppReceipt.environment`.
  public init?(receiptPath: String) {
    let names = receiptPath.split(separator: "/")
    switch names.last {
    case "sandboxReceipt": self = .sandbox
    case "receipt" where names.dropLast().last == "StoreKit": self = .production
    default: return nil
    }
  }
}
