/// One field of an old transaction receipt as it came.
public struct ReceiptField: Sendable, Hashable {
  /// What a property list can hold, as far as it matters here.
  @nonexhaustive
  public enum Value: Sendable, Hashable {
    /// A string; also a number, a truth value or a date, by its text.
    case text(String)
    /// Data.
    case data([UInt8])
    /// Anything else, such as a list, as the bytes of its own form.
    case other([UInt8])
  }

  /// The name, such as `purchase-date-pst`.
  public var key: String
  /// What it holds.
  public var value: Value

  /// A field of these parts.
  public init(key: String, value: Value) {
    self.key = key
    self.value = value
  }
}
