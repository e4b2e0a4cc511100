import CPurchaseSQLite
import Foundation

/// What came out.
struct BenchReport: Encodable {
  var bench = "queue"
  var isQuick: Bool
  /// Nil if nothing was written to a disk; so is the next.
  var directory: String?
  var sqlite: String? = unsafe String(cString: sqlite3_libversion())
  var seconds = 0.0
  var sections: [BenchSection] = []

  private var bars: [Bar] { sections.flatMap(\.bars) }
  var hasMissed: Bool { !Bar.missed(bars).isEmpty }

  var summary: String {
    let missed = Bar.missed(bars)
    let measured = bars.count { $0.isKept != nil }
    let numbers = Set(missed.map(\.number)).sorted().map(String.init).joined(separator: ", ")
    return
      "\(measured - missed.count) of \(measured) kept, \(bars.count - measured) not measured, in \(seconds) s"
      + (missed.isEmpty ? "" : "; missed in bar \(numbers)")
  }

  func json() throws -> String { try JSONOutput.document(self) }
}
