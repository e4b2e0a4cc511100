public import AppStoreReceipts

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The body of a POST to `/verifyReceipt` (StoreFacts a.1, R2.1). It contains a proof and a secret;
/// descriptions show neither.
///
/// Send it to `buy.itunes.apple.com` first, and again to `sandbox.itunes.apple.com` on status 21007. The
/// service refuses bodies over 3 MiB with HTTP 413, and base64 with white space.
public struct VerifyReceiptRequest: Sendable, Hashable {
  /// `receipt-data`: standard base64 of the app receipt or of the old transaction receipt.
  public var receiptData: String
  /// `password`: required for receipts with auto-renewable subscriptions.
  public var password: SharedSecret?
  /// `exclude-old-transactions`: the answer's `latest_receipt_info` has only the newest transaction of each
  /// subscription.
  public var excludesOldTransactions: Bool?

  /// Creates a request for a receipt's bytes, as they are in the file.
  public init(receipt: Data, password: SharedSecret? = nil, excludesOldTransactions: Bool? = nil) {
    self.init(
      receiptData: receipt.base64EncodedString(), password: password,
      excludesOldTransactions: excludesOldTransactions)
  }

  /// Creates a request for a receipt in base64. White space is removed: stored receipts often have line
  /// breaks, and the service refuses them.
  public init(receiptData: String, password: SharedSecret? = nil, excludesOldTransactions: Bool? = nil) {
    self.receiptData = Self.withoutWhiteSpace(receiptData)
    self.password = password
    self.excludesOldTransactions = excludesOldTransactions
  }

  /// Reads a request's JSON, as a model of the service does: the receipt stays unchanged, with its white
  /// space. Other names are ignored.
  ///
  /// Throws if it is no JSON object, if `receipt-data` is absent, or if a field has another type.
  public init(json: Data) throws(ReceiptDecodingError) {
    try self.init(JSONFields(json: json))
  }

  init(_ input: JSONFields) throws(ReceiptDecodingError) {
    var fields = input
    receiptData = try fields.required(fields.string("receipt-data"), "receipt-data")
    password = try fields.string("password").map(SharedSecret.init)
    excludesOldTransactions = try fields.flag("exclude-old-transactions")
    try fields.nameUnknown()
  }

  /// The body, with sorted names: equal requests have equal bytes. `exclude-old-transactions` is a boolean,
  /// as the service requires.
  public var json: Data {
    var members: [String: JSONValue] = ["receipt-data": .string(receiptData)]
    if let password { members["password"] = .string(password.value) }
    if let excludesOldTransactions { members["exclude-old-transactions"] = .bool(excludesOldTransactions) }
    return JSONValue.object(members).data
  }

  private static func withoutWhiteSpace(_ text: String) -> String {
    let kept = text.utf8.filter { $0 != 0x20 && $0 != 0x0A && $0 != 0x0D && $0 != 0x09 }
    return String(decoding: kept, as: UTF8.self)
  }
}

extension VerifyReceiptRequest: CustomStringConvertible, CustomReflectable {
  /// The size of the receipt, without its content.
  public var description: String {
    "verifyReceipt request: \(receiptData.utf8.count) characters of receipt, "
      + (password == nil ? "no password" : "with password")
  }
  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
