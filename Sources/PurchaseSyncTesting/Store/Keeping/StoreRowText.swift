import Foundation
import PurchaseSQLite

/// A key of ``StoreRows``. It is ordered so that equal states have equal documents.
typealias StoreKey = Codable & Comparable & Hashable & Sendable

/// One change of the kept store: a row of `store_rows`.
package enum StoreRowWrite: Sendable, Hashable {
  /// All rows go: another store takes the place of the kept one.
  case clear
  /// All rows of one part go.
  case clearPart(String)
  /// A new or changed row.
  case put(part: String, key: String, value: String)
  case remove(part: String, key: String)
}

/// Takes the rows that are written while the document is encoded. Belongs to one call of the encoder; a class because
/// the encoder passes it through its `userInfo`.
final class StoreRowSink: Sendable {
  static let key = CodingUserInfoKey(rawValue: "PurchaseSyncTesting.StoreRowSink")

  /// Whether all rows are wanted, not only the changed ones.
  let isWhole: Bool
  private let collected = Locked<[StoreRowWrite]>([])

  init(isWhole: Bool) { self.isWhole = isWhole }

  var writes: [StoreRowWrite] { collected.value }

  /// The sink of an encoder that writes rows; nil for an encoder that writes everything into one document.
  static func of(_ encoder: any Encoder) -> StoreRowSink? {
    key.flatMap { encoder.userInfo[$0] as? StoreRowSink }
  }

  func add(_ write: StoreRowWrite) { collected.withLock { $0.append(write) } }
}

/// The rows of a file while its document is decoded.
final class StoreRowSource: Sendable {
  static let key = CodingUserInfoKey(rawValue: "PurchaseSyncTesting.StoreRowSource")

  private let parts: [String: [(key: String, value: String)]]

  init(_ parts: [String: [(key: String, value: String)]]) { self.parts = parts }

  /// The source of a decoder that reads rows; nil for a decoder of one document.
  static func of(_ decoder: any Decoder) -> StoreRowSource? {
    key.flatMap { decoder.userInfo[$0] as? StoreRowSource }
  }

  func rows(at path: [any CodingKey]) -> [(key: String, value: String)] {
    parts[StoreRowText.part(path)] ?? []
  }
}

/// The text of rows: JSON, for the key as well, so that any key can be one.
enum StoreRowText {
  enum NoKey: CodingKey {}

  /// The name of a part: the names of the properties that lead to it.
  static func part(_ path: [any CodingKey]) -> String { path.map(\.stringValue).joined(separator: ".") }

  static func put(
    _ part: String, _ key: some Encodable, _ value: (some Encodable)?
  ) throws -> StoreRowWrite {
    let key = try encode(key)
    guard let value else { return .remove(part: part, key: key) }
    return .put(part: part, key: key, value: try encode(value))
  }

  static func encode(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  static func decode<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
    try JSONDecoder().decode(type, from: Data(text.utf8))
  }
}
