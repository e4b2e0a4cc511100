/// The pages of a database: those of the file, and over them the newer ones of its log.
struct PageImage {
  static let pageSize = LogImage.pageSize

  /// A gibibyte: the log may be all that is left of a file, and the largest queue of the default limits has 31 MiB.
  private static let mostWithoutFile = 1 << 20

  private let file: PageFile
  private let log: LogImage
  /// Where the newest frame of a page is in the log.
  private let newest: [Int: Int]
  /// The size in pages, as the last commit in the log says; without one, as many as the file has.
  let count: Int

  /// A page: its bytes are `bytes[start..<start + pageSize]`.
  struct Page {
    let bytes: [UInt8]
    let start: Int
    var isInLog = false

    var content: ArraySlice<UInt8> { bytes[start..<start + PageImage.pageSize] }
  }

  init(file: [UInt8], log: LogImage) { self.init(PageFile(file), log: log) }

  init(_ file: PageFile, log: LogImage) {
    self.file = file
    self.log = log
    let stored = file.size / Self.pageSize
    // Not more than there is: the file may be cut off, or gone. A damaged frame may have any page number, and four billion
    // pages would be four billion steps.
    let believable = max(2 * stored, Self.mostWithoutFile)
    let most = log.frames.reduce(stored) { $1.page <= believable ? max($0, $1.page) : $0 }
    count = min(log.frames.last?.size ?? stored, most)
    var newest: [Int: Int] = [:]
    for frame in log.frames where frame.page <= count { newest[frame.page] = frame.offset }
    self.newest = newest
  }

  /// Nil for a page that is not there.
  func page(_ number: Int) -> Page? {
    guard number > 0, number <= count else { return nil }
    if let offset = newest[number] { return Page(bytes: log.bytes, start: offset, isInLog: true) }
    return file.page(number)
  }

  /// Pages of frames that do not match their checksum. A row in them that matches its own is still good.
  var doubtful: [Page] { log.doubtful.map { Page(bytes: log.bytes, start: $0.offset, isInLog: true) } }

  /// True if the log holds a page that the file does not hold.
  var addsToFile: Bool {
    newest.contains { number, offset in
      guard let page = file.page(number) else { return true }
      return !page.content.elementsEqual(log.bytes[offset..<offset + Self.pageSize])
    }
  }
}
