/// How much of a log is known to be durable. It is kept in the file of the write lock and is not synced: a sync of the
/// log comes before each note, so what a note says was true before it was written, and an old note says less.
///
/// A power cut can leave a broken frame only behind this end. A broken frame before it is damage.
package struct LogNote: Hashable, Sendable {
  /// Those of the log's header: each log that starts again has others.
  package var salts: UInt64
  /// In bytes from the start of the file.
  package var end: Int64

  package init(salts: UInt64, end: Int64) { (self.salts, self.end) = (salts, end) }

  /// Of a file that has no note yet.
  package static let none = LogNote(salts: 0, end: 0)

  package static let size = 24

  /// Those in a log's header (<https://sqlite.org/fileformat2.html#walformat>); 0 if the bytes are none.
  package static func salts(inHeader bytes: UnsafeRawBufferPointer) -> UInt64 {
    guard bytes.count >= 24 else { return 0 }
    return unsafe bytes[16..<24].reduce(0) { $0 << 8 | UInt64($1) }
  }

  package var bytes: [UInt8] {
    let numbers = (salts.littleEndian, end.littleEndian, checksum.littleEndian)
    return unsafe withUnsafeBytes(of: numbers) { unsafe Array($0) }
  }

  /// Nothing is known to be durable by bytes that are none.
  package init(_ bytes: [UInt8]) {
    self = .none
    guard bytes.count >= Self.size else { return }
    func number(_ place: Int) -> Int64 {
      (0..<8).reduce(0) { $0 | Int64(bytes[8 * place + $1]) << Int64(8 * $1) }
    }
    let note = LogNote(salts: UInt64(bitPattern: number(0)), end: number(1))
    if note.checksum == number(2) { self = note }
  }

  private var checksum: Int64 { RowHash.of([Int64(bitPattern: salts), end]) }
}
