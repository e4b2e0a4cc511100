/// Compares the header of a queue's file with what SQLite writes for our settings. SQLite itself believes a header: a
/// flipped bit in it can make the file read-only, or make it write over pages in use.
enum HeaderCheck {
  /// What is wrong with the first 100 bytes of a file of this size; nil for nothing.
  ///
  /// - Parameter isAlone: true without a log, which may hold a newer header and more pages.
  static func problem(_ header: [UInt8], size: Int, isAlone: Bool) -> String? {
    guard header.count >= 100 else { return "the header is cut off" }
    let isWrong =
      header.bigEndian16(16) != PageImage.pageSize
      // The version to write and the version to read: a rollback journal or a log.
      || header[18] != header[19] || !(1...2).contains(header[18])
      || header[20..<24].elementsEqual([0, 64, 32, 32]) == false
      // The format of the schema, the default size of the cache, no auto-vacuum, UTF-8, no incremental vacuum.
      || header.bigEndian32(44) != 4 || header.bigEndian32(48) != 0 || header.bigEndian32(52) != 0
      || header.bigEndian32(56) != 1 || header.bigEndian32(64) != 0
      || header[72..<92].contains { $0 != 0 }
    if isWrong { return "the header has values that were never written" }
    // SQLite believes the count of pages if these two counters agree.
    if isAlone, header.bigEndian32(24) == header.bigEndian32(92),
      Int(header.bigEndian32(28)) != size / PageImage.pageSize
    {
      return "the header counts other pages than there are"
    }
    return nil
  }

  /// True if one flipped bit makes the one number of the other.
  static func areOneBitApart(_ one: Int64, _ other: Int64) -> Bool { (one ^ other).nonzeroBitCount == 1 }
}
