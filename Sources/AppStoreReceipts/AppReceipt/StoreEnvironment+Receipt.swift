extension StoreEnvironment {
  /// By the receipt type (attribute 0) of an app receipt; see `AppReceipt.environment`.
  public init(receiptType: String) {
    if receiptType.hasSuffix("Sandbox") {
      self = .sandbox
    } else if receiptType.hasPrefix("Production") {
      self = .production
    } else {
      self.init(rawValue: receiptType)
    }
  }

  /// By the path of the receipt's file, without reading it: sandbox for a file named `sandboxReceipt`, production
  /// for one named `receipt` in a folder `StoreKit`; nil of any other.
  ///
  /// A hint for when the contents cannot be had (requirements, R4.2). TestFlight and Xcode also use `sandboxReceipt`;
  /// on macOS every receipt is `_MASReceipt/receipt`. Where there are contents, `AppReceipt.environment` knows better.
  public init?(receiptPath: String) {
    let names = receiptPath.split(separator: "/")
    switch names.last {
    case "sandboxReceipt": self = .sandbox
    case "receipt" where names.dropLast().last == "StoreKit": self = .production
    default: return nil
    }
  }
}
