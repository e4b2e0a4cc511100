import PurchaseSQLite

/// Reads the rows of b-trees page by page and notes which pages belong to one. Ends on every input: a page is read once
/// for each tree.
struct TreeWalk {
  /// A row as it is stored.
  struct Row {
    /// Nil in a table WITHOUT ROWID.
    var rowid: Int64?
    var values: [SQLValue]
  }

  let image: PageImage
  /// Pages that a tree, a long record or the list of free pages holds.
  private(set) var known: PageSet
  /// Pages of trees whose cells are not as they should be.
  private(set) var damaged: Set<Int> = []
  /// Pages that two places claim. SQLite would write the one and destroy the other.
  private(set) var contested: Set<Int> = []
  /// Records whose rest could not be read.
  private(set) var brokenRecords = 0

  init(_ image: PageImage) {
    self.image = image
    known = PageSet(upTo: image.count)
  }

  private mutating func claim(_ page: Int) {
    if !known.insert(page) { contested.insert(page) }
  }

  /// A page to be read, and the numbers that its rows may have.
  private struct Waiting {
    var page: Int
    var low: Int64
    var high: Int64
  }

  /// Walks over the tree below a page and calls `take` for each record. Without `take`, no record is read.
  ///
  /// - Parameter columns: how many values each record has, if that is known.
  mutating func walk(from root: Int, isTable: Bool, columns: Int? = nil, _ take: ((Row) -> Void)? = nil) {
    var waiting = [Waiting(page: root, low: .min, high: .max)]
    var seen = PageSet(upTo: image.count)
    while let next = waiting.popLast() {
      let number = next.page
      guard seen.insert(number) else {
        contested.insert(number)
        continue
      }
      guard let page = image.page(number), let read = PageReader(page, number: number),
        read.kind.isTable == isTable
      else {
        damaged.insert(number)
        continue
      }
      claim(number)
      if !read.isConsistent { damaged.insert(number) }
      if !Self.isOrdered(read, next) { damaged.insert(number) }
      var low = next.low
      for cell in read.cells {
        if let child = cell.child {
          waiting.append(Waiting(page: child, low: low, high: cell.rowid ?? .max))
          low = cell.rowid ?? low
        }
        guard read.kind != .tableBranch else { continue }
        if let columns, Self.columns(page, cell) != columns { damaged.insert(number) }
        if let take {
          if let row = row(cell, of: page, claiming: true) { take(row) } else { brokenRecords += 1 }
        } else if cell.overflow != nil, !claimChain(cell) {
          brokenRecords += 1
        }
      }
      if let last = read.last { waiting.append(Waiting(page: last, low: low, high: next.high)) }
    }
  }

  /// True if the rows of a table's page have rising numbers within the bounds that the pages above have.
  private static func isOrdered(_ read: PageReader, _ bounds: Waiting) -> Bool {
    guard read.kind.isTable else { return true }
    var before = bounds.low
    for (index, cell) in read.cells.enumerated() {
      guard let rowid = cell.rowid, rowid <= bounds.high else { return false }
      guard rowid > before || (index == 0 && rowid == before && before == .min) else { return false }
      before = rowid
    }
    return true
  }

  /// How many values a record has.
  private static func columns(_ page: PageImage.Page, _ cell: PageReader.Cell) -> Int? {
    RecordReader.types(page.bytes, at: cell.start, before: cell.start + cell.local)?.types.count
  }

  /// Claims the pages with the rest of a record; false if there are not enough.
  private mutating func claimChain(_ cell: PageReader.Cell) -> Bool {
    var rest = cell.size - cell.local
    var next = cell.overflow ?? 0
    var length = 0
    while rest > 0 {
      guard length < image.count, let page = image.page(next) else { return false }
      claim(next)
      rest -= PageImage.pageSize - 4
      next = Int(page.bytes.bigEndian32(page.start))
      length += 1
    }
    return next == 0
  }

  /// Walks over the list of free pages that page 1 names.
  mutating func walkFree() {
    guard let first = image.page(1) else { return }
    var trunk = Int(first.bytes.bigEndian32(first.start + 32))
    var total = 0
    var seen = PageSet(upTo: image.count)
    while trunk != 0 {
      guard let page = image.page(trunk), seen.insert(trunk) else {
        damaged.insert(1)
        return
      }
      claim(trunk)
      let count = Int(page.bytes.bigEndian32(page.start + 4))
      guard count <= PageImage.pageSize / 4 - 2 else {
        damaged.insert(1)
        return
      }
      for index in 0..<count {
        let free = Int(page.bytes.bigEndian32(page.start + 8 + 4 * index))
        if image.page(free) == nil { damaged.insert(1) } else { claim(free) }
      }
      total += count + 1
      trunk = Int(page.bytes.bigEndian32(page.start))
    }
    if total != Int(first.bytes.bigEndian32(first.start + 36)) { damaged.insert(1) }
  }

  /// Pages that belong to nothing, in an undamaged file none.
  var orphans: [Int] { image.count < 2 ? [] : (2...image.count).filter { !known.contains($0) } }

  /// The first of them.
  var firstOrphan: Int? { image.count < 2 ? nil : (2...image.count).first { !known.contains($0) } }

  /// The row in a cell; nil if its record is not whole.
  mutating func row(_ cell: PageReader.Cell, of page: PageImage.Page, claiming isClaiming: Bool) -> Row? {
    guard cell.start + cell.local <= page.bytes.count else { return nil }
    var record = Array(page.bytes[cell.start..<cell.start + cell.local])
    var next = cell.overflow
    var chain: [Int] = []
    while let number = next, record.count < cell.size {
      // The chain cannot be longer than the file.
      guard chain.count < image.count, let page = image.page(number) else { return nil }
      chain.append(number)
      let part = min(PageImage.pageSize - 4, cell.size - record.count)
      record += page.bytes[page.start + 4..<page.start + 4 + part]
      next = Int(page.bytes.bigEndian32(page.start))
    }
    guard record.count == cell.size, let values = RecordReader.values(record) else { return nil }
    // The last page of a chain ends it.
    if isClaiming {
      if !chain.isEmpty, next != 0 { damaged.insert(chain[chain.count - 1]) }
      for number in chain { claim(number) }
    }
    return Row(rowid: cell.rowid, values: values)
  }

  // MARK: Without a tree

  /// Calls `take` for everything on a page that could be a row, wherever it begins. Only a checksum shows whether it is
  /// one.
  mutating func carve(_ page: PageImage.Page, _ take: (Row) -> Void) {
    for offset in 0..<PageImage.pageSize - 4 {
      for kind in [PageReader.Kind.tableLeaf, .indexLeaf] {
        guard let cell = PageReader.cell(page, at: offset, kind), cell.size > 3,
          Self.couldBeRow(page, cell), let row = row(cell, of: page, claiming: false)
        else { continue }
        take(row)
      }
    }
  }

  /// A cheap test first: the sizes in the record's header add up to its size.
  private static func couldBeRow(_ page: PageImage.Page, _ cell: PageReader.Cell) -> Bool {
    let end = cell.start + cell.local
    guard page.bytes[cell.start] < 64,
      let (types, start) = RecordReader.types(page.bytes, at: cell.start, before: end)
    else { return false }
    guard types.count > 2 else { return false }
    var size = start - cell.start
    for type in types { size += RecordReader.size(type) }
    return size == cell.size
  }
}
