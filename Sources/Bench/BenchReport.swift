import CPurchaseSQLite
import Foundation

/// The result of a bench.
package struct BenchReport: Encodable {
  var bench = "queue"
  var isQuick: Bool
  /// Nil if nothing was written to a disk; then `sqlite` is nil too.
  var directory: String?
  var sqlite: String? = unsafe String(cString: sqlite3_libversion())
  var seconds = 0.0
  var sections: [BenchSection] = []

  private var bars: [Bar] { sections.flatMap(\.bars) }
  package var hasMissed: Bool { !Bar.missed(bars).isEmpty }

  package var summary: String {
    let missed = Bar.missed(bars)
    let measured = bars.count { $0.isKept != nil }
    let numbers = Set(missed.map(\.number)).sorted().map(String.init).joined(separator: ", ")
    return
      "\(measured - missed.count) of \(measured) kept, \(bars.count - measured) not measured, in \(seconds) s"
      + (missed.isEmpty ? "" : "; missed in bar \(numbers)")
  }

  package func json() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(self), as: UTF8.self)
  }
}
