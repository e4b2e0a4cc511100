import BackendConformance
import CommandLineTools
import Foundation
import PurchaseSyncTesting

/// The findings as the XML that build servers read: a suite for each group.
struct JUnitReport {
  let text: String

  init(_ findings: [ConformanceFinding]) {
    var lines = [#"<?xml version="1.0" encoding="UTF-8"?>"#, "<testsuites>"]
    for group in ConformanceGroup.allCases {
      let own = findings.filter { $0.group == group }
      guard !own.isEmpty else { continue }
      let failed = own.count { $0.result == .failed }
      let skipped = own.count { $0.result == .skipped }
      lines.append(
        "  <testsuite name=\"conformance.\(group.rawValue)\" tests=\"\(own.count)\" failures=\"\(failed)\" "
          + "skipped=\"\(skipped)\">")
      lines += own.flatMap(Self.lines)
      lines.append("  </testsuite>")
    }
    lines.append("</testsuites>\n")
    text = lines.joined(separator: "\n")
  }

  private static func lines(_ finding: ConformanceFinding) -> [String] {
    let name =
      "    <testcase classname=\"conformance.\(finding.group.rawValue)\" name=\"\(escaped(finding.check))\""
    switch finding.result {
    case .passed: return [name + "/>"]
    case .skipped:
      let advice = (finding.missing ?? []).map(\.advice).joined(separator: "; ")
      return [name + ">", "      <skipped message=\"\(escaped(advice))\"/>", "    </testcase>"]
    case .failed:
      let exchanges = (finding.exchanges ?? []).map { "> \($0.sent)\n< \($0.received)" }
      let details = exchanges.joined(separator: "\n") + "\nrule: \(finding.promise) (\(finding.source))"
      return [
        name + ">",
        "      <failure message=\"expected: \(escaped(finding.expected ?? ""))\">\(escaped(details))</failure>",
        "    </testcase>",
      ]
    }
  }

  /// XML 1.0 has no control characters, not even escaped.
  private static func escaped(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "\n", "\t": escaped.unicodeScalars.append(scalar)
      case _ where scalar.value < 0x20 || scalar.value == 0xFFFE || scalar.value == 0xFFFF: escaped += " "
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }

  func write(to file: String) throws {
    do {
      try Data(text.utf8).write(to: URL(filePath: file))
    } catch {
      throw InputError(
        message: "\(file) cannot be written: \(error.localizedDescription)", code: ExitCode.internal)
    }
  }
}
