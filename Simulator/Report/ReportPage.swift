import Foundation

/// The report as one file that needs nothing else: no network, no other file.
enum ReportPage {
  /// What stands in the template where the data belong.
  static let placeholder = Data("REPORT_JSON".utf8)

  /// The page with the report in it, as UTF-8.
  static func html(_ report: Report) throws -> Data {
    try html(report, in: Data(PackageResources.report_html))
  }

  /// The same of an exploration.
  static func html(_ page: ExplorePage) throws -> Data {
    try html(page, in: Data(PackageResources.explore_html))
  }

  private static func html(_ report: some Encodable, in template: Data) throws -> Data {
    guard let place = template.range(of: placeholder) else { throw ReportPageError.noPlaceForData }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return template[..<place.lowerBound] + inert(try encoder.encode(report)) + template[place.upperBound...]
  }

  /// JSON that neither ends the script it stands in nor begins markup.
  ///
  /// `<` and the line separators U+2028 and U+2029 occur in JSON within strings only, so that their escapes
  /// are the same text.
  static func inert(_ json: Data) -> Data {
    let bytes = [UInt8](json)
    var result = Data(capacity: bytes.count)
    var position = 0
    while position < bytes.count {
      if bytes[position] == UInt8(ascii: "<") {
        result.append(contentsOf: #"\u003c"#.utf8)
        position += 1
      } else if bytes[position] == 0xE2, position + 2 < bytes.count, bytes[position + 1] == 0x80,
        bytes[position + 2] == 0xA8 || bytes[position + 2] == 0xA9
      {
        result.append(contentsOf: (bytes[position + 2] == 0xA8 ? #"\u2028"# : #"\u2029"#).utf8)
        position += 3
      } else {
        result.append(bytes[position])
        position += 1
      }
    }
    return result
  }
}

/// The template is not what the code expects.
enum ReportPageError: Error {
  case noPlaceForData
}
