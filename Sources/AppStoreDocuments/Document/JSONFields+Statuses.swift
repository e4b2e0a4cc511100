import AppStoreReceipts

extension JSONFields {
  /// Takes 0 or 1, "0" or "1", "false" or "true": one field has these three encodings (StoreFacts 'Same
  /// thing, different spelling'). Other numbers are accepted too.
  mutating func renewStatus(_ name: String) throws(ReceiptDecodingError) -> AutoRenewStatus? {
    switch try peek(name) {
    case .string("true"), .string("false"): try flag(name) == true ? .on : .off
    default: try code(name, as: AutoRenewStatus.self)
    }
  }

  /// Takes a status. The "OK" of version 1 notifications is 0 (StoreFacts d.1).
  mutating func receiptStatus(_ name: String) throws(ReceiptDecodingError) -> ReceiptStatus? {
    guard try peek(name) != .string("OK") else {
      _ = offset(name)
      return .ok
    }
    return try code(name, as: ReceiptStatus.self)
  }
}
