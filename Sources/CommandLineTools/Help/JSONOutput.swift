import Foundation

/// JSON for programs: keys are sorted, so that two outputs can be compared as text.
package enum JSONOutput {
  /// In one line.
  package static func line(_ value: some Encodable) throws -> String {
    try text(value, [.sortedKeys, .withoutEscapingSlashes])
  }

  /// With line breaks, for readers.
  package static func document(_ value: some Encodable) throws -> String {
    try text(value, [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes])
  }

  private static func text(
    _ value: some Encodable, _ formatting: JSONEncoder.OutputFormatting
  ) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = formatting
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }
}
