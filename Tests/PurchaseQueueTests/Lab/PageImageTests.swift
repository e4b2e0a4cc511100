import Testing

@testable import PurchaseQueue

@Suite struct PageImageTests {
  /// A log with one commit of one page, which says that the database has that many pages. Every checksum is right.
  private static func log(page: UInt32, size: UInt32) -> [UInt8] {
    func word(_ value: UInt32) -> [UInt8] {
      [UInt8(value >> 24), UInt8(value >> 16 & 255), UInt8(value >> 8 & 255), UInt8(value & 255)]
    }
    let salts = word(7) + word(9)
    var bytes = word(0x377F_0682) + word(3_007_000) + word(UInt32(LogImage.pageSize)) + word(0) + salts
    var sum = LogChecksum()
    sum.add(bytes, 0..<24, isBigEndian: false)
    bytes += word(sum.first) + word(sum.second)
    let frame = bytes.count
    bytes += word(page) + word(size) + salts + word(0) + word(0)
    bytes += Array(repeating: UInt8(3), count: LogImage.pageSize)
    sum.addFrame(bytes, at: frame, isBigEndian: false)
    bytes.replaceSubrange(frame + 16..<frame + 24, with: word(sum.first) + word(sum.second))
    return bytes
  }

  @Test(arguments: [UInt32(1) << 21, 1 << 30, .max])
  func `a page number of billions does not make a salvage look at billions of pages`(number: UInt32) {
    let log = LogImage(Self.log(page: number, size: number))
    #expect(log.frames.map(\.page) == [Int(number)], "its checksum is right")
    let image = PageImage(file: Array(repeating: 0, count: 4 * PageImage.pageSize), log: log)
    #expect(image.count == 4)
  }

  @Test func `the pages of a log are there although the file is gone`() {
    let image = PageImage(file: [], log: LogImage(Self.log(page: 5_000, size: 5_000)))
    #expect(image.count == 5_000)
    #expect(image.page(5_000)?.isInLog == true)
    #expect(image.page(4_999) == nil)
  }
}
