package import Foundation

/// The content of a report's page: the page's script reads exactly the names of its JSON.
package protocol ReportContent: Encodable {
  /// The page, with the places for the content, the style and the script.
  static var template: Data { get }
}

/// The report as one file that needs nothing else: no network, no other file.
package enum ReportPage {
  /// Marks in a template that are replaced.
  package enum Placeholder: String {
    case style = "PAGE_STYLE"
    case script = "PAGE_SCRIPT"
    case report = "REPORT_JSON"
  }

  /// The page with the report in it, as UTF-8. The report is inserted last, so text in it that looks like a placeholder is
  /// not replaced.
  package static func html(_ report: some ReportContent) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    var page = type(of: report).template
    try put(ReportFiles.style, at: .style, of: &page)
    try put(ReportFiles.script, at: .script, of: &page)
    try put(inert(try encoder.encode(report)), at: .report, of: &page)
    return page
  }

  private static func put(_ content: Data, at placeholder: Placeholder, of page: inout Data) throws {
    guard let place = page.range(of: Data(placeholder.rawValue.utf8)) else {
      throw ReportPageError.noPlace(placeholder.rawValue)
    }
    page.replaceSubrange(place, with: content)
  }

  /// JSON that neither ends the script it stands in nor begins markup.
  ///
  /// `<` and the line separators U+2028 and U+2029 occur in JSON within strings only, so that their escapes
  /// are the same text.
  package static func inert(_ json: Data) -> Data {
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

/// The template does not fit the code.
package enum ReportPageError: Error {
  /// It lacks this placeholder.
  case noPlace(String)
}
