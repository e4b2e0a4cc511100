/// Columns as wide as their widest cell. Control characters are replaced, and long cells are cut.
enum TextTable {
  static func lines(_ rows: [[String]]) -> [String] {
    let cells = rows.map { $0.map(cell) }
    let widths = (0..<(cells.first?.count ?? 0)).map { column in cells.map { $0[column].count }.max() ?? 0 }
    return cells.map { row in
      let line = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
        .joined(separator: "  ")
      return String(line.reversed().drop { $0 == " " }.reversed())
    }
  }

  static func cell(_ text: String) -> String {
    let line = InspectText.safe(text.replacing("\n", with: " "))
    return line.count <= 48 ? line : line.prefix(47) + "…"
  }
}
