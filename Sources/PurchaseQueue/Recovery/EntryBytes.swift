import PurchaseSQLite

/// Where the bytes of each entry are in a file and its log: its row, its payloads, and the pages with the rest of long
/// records. For tests of damage, which must not cost an entry whose bytes are not touched.
package struct EntryBytes: Sendable {
  package var file: [Range<Int>] = []
  package var log: [Range<Int>] = []

  /// By the key's text.
  package static func all(file: [UInt8], log: [UInt8]) -> [String: EntryBytes] {
    let image = PageImage(file: file, log: LogImage(log))
    var rows: [(key: String, payloads: [Int64], bytes: EntryBytes)] = []
    var payloads: [Int64: EntryBytes] = [:]
    for number in 1...max(image.count, 1) {
      guard let page = image.page(number), let read = PageReader(page, number: number),
        read.kind == .tableLeaf
      else { continue }
      for cell in read.cells {
        var walk = TreeWalk(image)
        guard let row = walk.row(cell, of: page, claiming: true), let rowid = row.rowid else { continue }
        var bytes = EntryBytes()
        bytes.add(page, page.start + cell.range.lowerBound..<page.start + cell.range.upperBound)
        for overflow in 1...image.count where walk.known.contains(overflow) {
          if let page = image.page(overflow) { bytes.add(page, page.start..<page.start + PageImage.pageSize) }
        }
        if row.values.count == StoredEntry.columnCount, case .text(let key) = row.values[1],
          case .text(let list) = row.values[10]
        {
          rows.append((key, PayloadReference.list(list).compactMap(\.id), bytes))
        } else if row.values.count == 4, case .bytes = row.values[3] {
          payloads[rowid] = bytes
        }
      }
    }
    var all: [String: EntryBytes] = [:]
    for row in rows {
      var bytes = row.bytes
      for payload in row.payloads.compactMap({ payloads[$0] }) {
        bytes.file += payload.file
        bytes.log += payload.log
      }
      all[row.key] = bytes
    }
    return all
  }

  private mutating func add(_ page: PageImage.Page, _ range: Range<Int>) {
    if page.isInLog { log.append(range) } else { file.append(range) }
  }

  /// True if one of the ranges holds bytes of the entry.
  package func isTouched(file: [Range<Int>], log: [Range<Int>]) -> Bool {
    file.contains { one in self.file.contains { $0.overlaps(one) } }
      || log.contains { one in self.log.contains { $0.overlaps(one) } }
  }
}
