/// An old transaction receipt to be written (StoreFacts a.7): a property list with another one inside.
///
/// Its signature is made up, and it proves nothing.
public struct ForgedTransactionReceipt: Sendable, Hashable {
  /// A key with its text.
  public struct Field: Sendable, Hashable {
    /// Such as `transaction-id`.
    public var key: String
    /// Its text.
    public var text: String

    /// A field of these parts.
    public init(_ key: String, _ text: String) {
      self.key = key
      self.text = text
    }
  }

  /// The three ways to write a property list.
  public enum Form: String, Sendable, CaseIterable {
    /// NeXTSTEP's, as the App Store does.
    case text
    /// `<plist>`
    case xml
    /// `bplist00`
    case binary
  }

  /// The inner list.
  public var purchaseInfo: [Field]
  /// The outer list without `purchase-info`, which is written first.
  public var outer: [Field]

  /// A receipt of these fields.
  public init(purchaseInfo: [Field], outer: [Field]) {
    self.purchaseInfo = purchaseInfo
    self.outer = outer
  }

  /// A consumable, bought once; `expires` in milliseconds for a subscription.
  public init(
    bundleID: String, transactionID: String, productID: String, purchasedAt: Int64 = 1_447_821_281_000,
    expires: Int64? = nil, environment: String? = "Sandbox"
  ) {
    purchaseInfo = [
      Field("original-purchase-date-pst", "2015-11-17 20:34:41 America/Los_Angeles"),
      Field("purchase-date-ms", String(purchasedAt)), Field("original-transaction-id", transactionID),
      Field("transaction-id", transactionID), Field("quantity", "1"), Field("bvrs", "1"),
      Field("original-purchase-date-ms", String(purchasedAt)), Field("product-id", productID),
      Field("item-id", "1028950797"), Field("bid", bundleID),
    ]
    if let expires {
      purchaseInfo += [
        Field("expires-date", String(expires)), Field("web-order-line-item-id", "1000000030938713"),
      ]
    }
    outer = [Field("signature", Self.base64(Array(0..<120)))]
    if let environment { outer.append(Field("environment", environment)) }
    outer += [Field("pod", "100"), Field("signing-status", "0")]
  }

  /// The first text of a key in the inner list; nil takes it out.
  public subscript(key: String) -> String? {
    get { purchaseInfo.first { $0.key == key }?.text }
    set {
      let index = purchaseInfo.firstIndex { $0.key == key }
      switch (index, newValue) {
      case (let index?, let text?): purchaseInfo[index].text = text
      case (let index?, nil): purchaseInfo.remove(at: index)
      case (nil, let text?): purchaseInfo.append(Field(key, text))
      case (nil, nil): break
      }
    }
  }

  /// The bytes of `SKPaymentTransaction.transactionReceipt`.
  public func bytes(_ form: Form = .text) -> [UInt8] {
    let inner = Self.list(purchaseInfo, form)
    return Self.list([Field("purchase-info", Self.base64(inner))] + outer, form)
  }

  /// One property list.
  public static func list(_ fields: [Field], _ form: Form) -> [UInt8] {
    switch form {
    case .text:
      let lines = fields.map { "\t\"\(escaped($0.key))\" = \"\(escaped($0.text))\";\n" }
      return Array(("{\n" + lines.joined() + "}").utf8)
    case .xml:
      let lines = fields.map { "<key>\(entities($0.key))</key>\n<string>\(entities($0.text))</string>\n" }
      return Array(
        ("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<plist version=\"1.0\">\n<dict>\n" + lines.joined()
          + "</dict>\n</plist>\n").utf8)
    case .binary: return binary(fields)
    }
  }

  private static func escaped(_ text: String) -> String {
    text.split(separator: "\\", omittingEmptySubsequences: false).joined(separator: "\\\\")
      .split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\\\"")
  }

  private static func entities(_ text: String) -> String {
    text.split(separator: "&", omittingEmptySubsequences: false).joined(separator: "&amp;")
      .split(separator: "<", omittingEmptySubsequences: false).joined(separator: "&lt;")
  }

  /// Object 0 is the dictionary; offsets of four bytes, references of two.
  private static func binary(_ fields: [Field]) -> [UInt8] {
    func big(_ value: Int, _ count: Int) -> [UInt8] {
      (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    func marker(_ kind: UInt8, _ count: Int) -> [UInt8] {
      count < 15 ? [kind << 4 | UInt8(count)] : [kind << 4 | 0x0F, 0x12] + big(count, 4)
    }
    var bytes = Array("bplist00".utf8)
    var offsets = [bytes.count]
    bytes += marker(0xD, fields.count)
    for index in 0..<2 * fields.count { bytes += big(index + 1, 2) }
    for text in fields.map(\.key) + fields.map(\.text) {
      offsets.append(bytes.count)
      if text.utf8.allSatisfy({ $0 < 0x80 }) {
        bytes += marker(0x5, text.utf8.count) + Array(text.utf8)
      } else {
        bytes += marker(0x6, text.utf16.count) + text.utf16.flatMap { big(Int($0), 2) }
      }
    }
    let table = bytes.count
    for offset in offsets { bytes += big(offset, 4) }
    bytes += [0, 0, 0, 0, 0, 0, 4, 2]
    return bytes + big(offsets.count, 8) + big(0, 8) + big(table, 8)
  }

  /// Base64 without line breaks.
  public static func base64(_ bytes: [UInt8]) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".unicodeScalars)
    var text = String.UnicodeScalarView()
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = Array(bytes[start..<min(start + 3, bytes.count)])
      let bits = (0..<3).reduce(UInt32(0)) { $0 << 8 | ($1 < group.count ? UInt32(group[$1]) : 0) }
      for index in 0..<4 {
        text.append(index <= group.count ? alphabet[Int(bits >> UInt32(18 - 6 * index) & 0x3F)] : "=")
      }
    }
    return String(text)
  }
}
