import Foundation

/// The report as one file that needs nothing else: no network, no other file.
enum ReportPage {
  /// Marks in a template that are replaced.
  enum Placeholder: String {
    case style = "PAGE_STYLE"
    case script = "PAGE_SCRIPT"
    case report = "REPORT_JSON"
  }

  /// The page with the report in it, as UTF-8.
  static func html(_ report: Report) throws -> Data {
    try html(report, in: ReportFiles.report)
  }

  /// The same of an exploration.
  static func html(_ page: ExplorePage) throws -> Data {
    try html(page, in: ReportFiles.explore)
  }

  /// The same of an explained failure.
  static func html(_ page: WhyPage) throws -> Data {
    try html(page, in: ReportFiles.why)
  }

  /// The same of a fleet.
  static func html(_ page: FleetPage) throws -> Data {
    try html(page, in: ReportFiles.fleet)
  }

  /// The report is inserted last, so text in it that looks like a placeholder is not replaced.
  private static func html(_ report: some Encodable, in template: Data) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    var page = template
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

/// The template does not fit the code.
enum ReportPageError: Error {
  /// It lacks this placeholder.
  case noPlace(String)
}
