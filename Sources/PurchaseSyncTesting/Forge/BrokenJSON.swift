package import AppStoreReceipts
package import Foundation

/// Damaged or hostile JSON. A decoder reads the bytes or throws an error that describes the defect.
package enum BrokenJSON: String, Sendable, Hashable, CaseIterable {
  /// The second half is missing.
  case truncated
  /// Nothing.
  case empty
  /// A captive portal's page.
  case html
  /// The text, twice.
  case doubled
  /// Ten thousand levels of arrays in a new member.
  case deep
  /// A byte that is not UTF-8, in a string.
  case notUTF8
  /// A NUL byte in a string, not escaped.
  case rawNUL
  /// Half of a surrogate pair.
  case halfPair
  /// Every number beyond what any machine holds.
  case hugeNumbers
  /// Every string an object.
  case stringsAreObjects
  /// Every value null.
  case nulls
  /// UTF-16.
  case utf16

  /// The broken bytes. Some cases do not change a value that is no object.
  package func bytes(of value: JSONValue) -> Data {
    switch self {
    case .truncated: value.data.prefix(value.data.count / 2)
    case .empty: Data()
    case .html: Data("<!DOCTYPE html><html><body>Please sign in.</body></html>".utf8)
    case .doubled: value.data + value.data
    case .deep:
      with(value, Data((String(repeating: "[", count: 10_000) + String(repeating: "]", count: 10_000)).utf8))
    case .notUTF8: with(value, Data([0x22, 0xC3, 0x28, 0x22]))
    case .rawNUL: with(value, Data([0x22, 0x00, 0x22]))
    case .halfPair: with(value, Data(#""\ud800""#.utf8))
    case .hugeNumbers: Self.map(value) { $0.isNumber ? .number("1e400") : $0 }.data
    case .stringsAreObjects: Self.map(value) { $0.string == nil ? $0 : ["x": 1] }.data
    case .nulls: Self.map(value) { _ in .null }.data
    case .utf16: value.text.data(using: .utf16LittleEndian) ?? Data()
    }
  }

  /// The object with one more member, whose value is not JSON.
  private func with(_ value: JSONValue, _ member: Data) -> Data {
    Data(#"{"broken":"#.utf8) + member + Data(",".utf8) + value.data.dropFirst()
  }

  private static func map(_ value: JSONValue, _ change: (JSONValue) -> JSONValue) -> JSONValue {
    switch value {
    case .array(let items): .array(items.map { map($0, change) })
    case .object(let members): .object(members.mapValues { map($0, change) })
    default: change(value)
    }
  }
}

extension JSONValue {
  fileprivate var isNumber: Bool {
    switch self {
    case .integer, .number: true
    default: false
    }
  }
}
