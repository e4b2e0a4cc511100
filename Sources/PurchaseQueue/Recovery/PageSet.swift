/// Numbers of pages: a bit for each page of a file, because a file may have very many.
struct PageSet {
  private var words: [UInt64]

  init(upTo count: Int) { words = Array(repeating: 0, count: count / 64 + 1) }

  func contains(_ page: Int) -> Bool {
    page >= 0 && page / 64 < words.count && words[page / 64] & Self.bit(page) != 0
  }

  /// False if the page was in the set. No page of the file: nothing happens, and the answer is true.
  mutating func insert(_ page: Int) -> Bool {
    guard page >= 0, page / 64 < words.count else { return true }
    defer { words[page / 64] |= Self.bit(page) }
    return words[page / 64] & Self.bit(page) == 0
  }

  private static func bit(_ page: Int) -> UInt64 { 1 << UInt64(page % 64) }
}
