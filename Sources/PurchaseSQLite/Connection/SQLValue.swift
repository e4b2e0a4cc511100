/// A value to bind.
package enum SQLValue: Sendable, Equatable {
  case null
  case integer(Int64)
  case text(String)
  case bytes([UInt8])

  /// An optional text: absent is NULL.
  package static func text(_ value: String?) -> SQLValue {
    guard let value else { return .null }
    return .text(value)
  }

  /// An optional integer: absent is NULL.
  package static func integer(_ value: Int64?) -> SQLValue {
    guard let value else { return .null }
    return .integer(value)
  }

  /// A flag, stored as 0 or 1.
  package static func flag(_ value: Bool) -> SQLValue { .integer(value ? 1 : 0) }
}
