/// One field of an old transaction receipt, undecoded.
public struct ReceiptField: Sendable, Hashable {
  /// The values of a property list that matter here.
  @nonexhaustive
  public enum Value: Sendable, Hashable {
    /// A string; also the text of a number, a truth value or a date.
    case text(String)
    /// Data.
    case data([UInt8])
    /// Any other value, such as a list, as its original bytes.
    case other([UInt8])
  }

  /// The name, such as `purchase-date-pst`.
  public var key: String
  /// The field's value.
  public var value: Value

  /// Creates a field.
  package init(key: String, value: Value) {
    self.key = key
    self.value = value
  }
}
