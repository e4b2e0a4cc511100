import Foundation

/// The bytes that SQLite has written into a write-ahead log (<https://sqlite.org/fileformat2.html#walformat>): its
/// header and the frames with the header's salt. The file may be longer.
enum LogFile {
  static func bytes(in path: String) throws -> Int {
    guard FileManager.default.fileExists(atPath: path) else { return 0 }
    let log = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    guard log.count >= 32 else { return 0 }
    let frame = 24 + number(log, 8)
    let salt = log[16..<24]
    var end = 32
    while end + frame <= log.count, log[end + 8..<end + 16].elementsEqual(salt) { end += frame }
    return end
  }

  private static func number(_ bytes: [UInt8], _ offset: Int) -> Int {
    bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
  }
}
