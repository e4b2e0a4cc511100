/// Reads a page of a b-tree (<https://sqlite.org/fileformat2.html#b_tree_pages>) without believing it.
struct PageReader {
  enum Kind: UInt8 {
    case indexBranch = 2
    case tableBranch = 5
    case indexLeaf = 10
    case tableLeaf = 13

    var isTable: Bool { self == .tableBranch || self == .tableLeaf }
    var isLeaf: Bool { self == .indexLeaf || self == .tableLeaf }
  }

  /// A cell: a row, or the way to a page below.
  struct Cell {
    /// The page below; nil in a leaf.
    var child: Int?
    /// The row's number; nil in an index.
    var rowid: Int64?
    /// The record's size; 0 in a branch of a table.
    var size = 0
    /// Where the record begins in the page's bytes, and how much of it is there.
    var start = 0
    var local = 0
    /// The first page with the rest of the record.
    var overflow: Int?
    /// Where the cell begins and ends, from the beginning of the page.
    var range = 0..<0
  }

  let kind: Kind
  let cells: [Cell]
  /// The last page below, of a branch.
  let last: Int?
  /// False if the cells do not fill the page as they should, so that one of them may be missing or wrong.
  let isConsistent: Bool

  private static let size = PageImage.pageSize

  /// Nil for a page that is not of a b-tree.
  init?(_ page: PageImage.Page, number: Int) {
    let header = number == 1 ? 100 : 0
    let (bytes, start) = (page.bytes, page.start)
    guard let kind = Kind(rawValue: bytes[start + header]) else { return nil }
    self.kind = kind
    let free = bytes.bigEndian16(start + header + 1)
    let count = bytes.bigEndian16(start + header + 3)
    let content = bytes.bigEndian16(start + header + 5)
    let fragments = Int(bytes[start + header + 7])
    let pointers = header + (kind.isLeaf ? 8 : 12)
    last = kind.isLeaf ? nil : Int(bytes.bigEndian32(start + header + 8))
    var cells: [Cell] = []
    var used: [Range<Int>] = []
    var isWhole = pointers + 2 * count <= content && content <= Self.size
    for index in 0..<min(count, (Self.size - pointers) / 2) {
      let offset = bytes.bigEndian16(start + pointers + 2 * index)
      guard offset >= pointers, let cell = Self.cell(page, at: offset, kind) else {
        isWhole = false
        continue
      }
      cells.append(cell)
      used.append(cell.range.lowerBound..<max(cell.range.upperBound, cell.range.lowerBound + 4))
    }
    self.cells = cells
    isWhole = isWhole && Self.addFree(page, free, to: &used)
    isConsistent = isWhole && Self.fill(used, from: content) == fragments
  }

  /// Adds the free blocks of the page; false if their list is wrong.
  private static func addFree(_ page: PageImage.Page, _ first: Int, to used: inout [Range<Int>]) -> Bool {
    var (block, before) = (first, 0)
    while block != 0 {
      guard block > before, block + 4 <= size else { return false }
      let length = page.bytes.bigEndian16(page.start + block + 2)
      guard length >= 4, block + length <= size else { return false }
      used.append(block..<block + length)
      (before, block) = (block, page.bytes.bigEndian16(page.start + block))
    }
    return true
  }

  /// How many bytes from `content` on are in no range; nil if two ranges overlap, or one begins before.
  private static func fill(_ used: [Range<Int>], from content: Int) -> Int? {
    var (position, unused) = (content, 0)
    for range in used.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      guard range.lowerBound >= position else { return nil }
      unused += range.lowerBound - position
      position = range.upperBound
    }
    guard position <= size else { return nil }
    return unused + size - position
  }

  /// The cell at an offset of the page; nil if there is none.
  static func cell(_ page: PageImage.Page, at offset: Int, _ kind: Kind) -> Cell? {
    let (bytes, end) = (page.bytes, page.start + size)
    var cell = Cell()
    var position = page.start + offset
    if !kind.isLeaf {
      guard position + 4 <= end else { return nil }
      cell.child = Int(bytes.bigEndian32(position))
      position += 4
    }
    if kind != .tableBranch {
      guard let length = RecordReader.varint(bytes, at: position, before: end) else { return nil }
      guard length.value >= 1, length.value <= 1 << 31 else { return nil }
      cell.size = Int(length.value)
      position = length.end
    }
    if kind.isTable {
      guard let rowid = RecordReader.varint(bytes, at: position, before: end) else { return nil }
      cell.rowid = rowid.value
      position = rowid.end
    }
    cell.start = position
    cell.local = kind == .tableBranch ? 0 : local(cell.size, kind)
    position += cell.local
    if cell.local < cell.size {
      guard position + 4 <= end else { return nil }
      cell.overflow = Int(bytes.bigEndian32(position))
      position += 4
    }
    guard position <= end else { return nil }
    cell.range = offset..<position - page.start
    return cell
  }

  /// How much of a record is in its cell.
  private static func local(_ record: Int, _ kind: Kind) -> Int {
    let most = kind.isTable ? size - 35 : (size - 12) * 64 / 255 - 23
    guard record > most else { return record }
    let least = (size - 12) * 32 / 255 - 23
    let rest = least + (record - least) % (size - 4)
    return rest <= most ? rest : least
  }
}
