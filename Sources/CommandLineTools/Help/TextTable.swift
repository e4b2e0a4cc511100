/// Columns as wide as their widest cell. Control characters are replaced, and long cells are cut.
package enum TextTable {
  package static func lines(_ rows: [[String]]) -> [String] {
    let cells = rows.map { $0.map(cell) }
    let lengths = cells.map { $0.map(length) }
    let widths = (0..<(cells.first?.count ?? 0)).map { column in lengths.map { $0[column] }.max() ?? 0 }
    return zip(cells, lengths).map { row, lengths in
      var line = ""
      var pending = 0
      for (column, cell) in row.enumerated() {
        // Spaces are written before the next cell that is not empty, so that none ends the line.
        if !cell.isEmpty {
          line += String(repeating: " ", count: pending)
          line += cell
          pending = 0
        }
        pending += widths[column] - lengths[column] + 2
      }
      return line
    }
  }

  /// Most cells are plain ASCII: they are kept, without a look at each character's properties.
  package static func cell(_ text: String) -> String {
    if text.utf8.count <= 48, text.utf8.allSatisfy({ 0x20..<0x7F ~= $0 }) {
      return text.utf8.last == 0x20 ? trimmed(text) : text
    }
    let line = SafeText.shown(text.replacing("\n", with: " "))
    return trimmed(line.count <= 48 ? line : line.prefix(47) + "…")
  }

  private static func trimmed(_ text: String) -> String {
    String(text.reversed().drop { $0 == " " }.reversed())
  }

  /// The characters of a cell. For ASCII these are its bytes, which are counted much faster.
  private static func length(_ cell: String) -> Int {
    cell.utf8.allSatisfy { $0 < 0x80 } ? cell.utf8.count : cell.count
  }
}
