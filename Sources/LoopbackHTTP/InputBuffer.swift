/// Bytes received and not yet parsed.
///
/// Every byte is looked at once in search of a line's end, however small the pieces it came in, and
/// moved a bounded number of times.
struct InputBuffer {
  private var bytes: [UInt8] = []
  /// The first byte not yet taken.
  private var start = 0
  /// There is no line feed in `start..<scanned`.
  private var scanned = 0

  var count: Int { bytes.count - start }
  var first: UInt8? { start < bytes.count ? bytes[start] : nil }

  /// The bytes of a line just taken; valid until the next `append`.
  subscript(range: Range<Int>) -> ArraySlice<UInt8> { bytes[range] }

  mutating func append(_ more: ArraySlice<UInt8>) {
    if start == bytes.count {
      bytes.removeAll(keepingCapacity: true)
      scanned = 0
      start = 0
    } else if start > bytes.count / 2 {
      // Moves fewer bytes than have been taken since the last time: linear in the whole input.
      bytes.removeSubrange(..<start)
      scanned -= start
      start = 0
    }
    bytes.append(contentsOf: more)
  }

  enum LineProblem: Error { case tooLong, bareLineFeed }

  /// Takes a line and returns where it is, without CR LF; nil if its end has not come yet.
  ///
  /// `limit` is the longest line with its CR LF, in bytes.
  mutating func takeLine(limit: Int) throws(LineProblem) -> Range<Int>? {
    guard let end = bytes[scanned...].firstIndex(of: ASCII.lineFeed) else {
      scanned = bytes.count
      guard count < limit else { throw .tooLong }
      return nil
    }
    guard end - start < limit else { throw .tooLong }
    // RFC 9112 2.2 lets a recipient accept a bare LF; where two parsers disagree smuggling begins.
    guard end > start, bytes[end - 1] == ASCII.carriageReturn else { throw .bareLineFeed }
    let line = start..<(end - 1)
    start = end + 1
    scanned = start
    return line
  }

  /// Moves up to `limit` bytes to the end of `body` and returns how many.
  mutating func take(upTo limit: Int, into body: inout [UInt8]) -> Int {
    let taken = min(limit, count)
    body.append(contentsOf: bytes[start..<(start + taken)])
    start += taken
    scanned = max(scanned, start)
    return taken
  }
}
