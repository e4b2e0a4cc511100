import Foundation
import PurchaseQueue
import Testing

/// Damages a file that no process has open, byte by byte.
struct Damage {
  let path: String

  static let pageSize = 1_024

  var bytes: [UInt8] {
    get throws { Array(try Data(contentsOf: URL(fileURLWithPath: path))) }
  }

  /// Overwrites the bytes at an offset.
  func write(_ bytes: [UInt8], at offset: Int) throws {
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    try file.seek(toOffset: UInt64(offset))
    try file.write(contentsOf: Data(bytes))
    try file.close()
  }

  func truncate(to size: Int) throws {
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    try file.truncate(atOffset: UInt64(size))
    try file.close()
  }

  /// The offset of the bytes, which have to be in the file exactly once.
  func offset(of wanted: [UInt8]) throws -> Int {
    let found = try offsets(of: wanted)
    try #require(found.count == 1, "\(found.count) places hold \(wanted.prefix(40))")
    return found[0]
  }

  func offset(of text: String) throws -> Int { try offset(of: Array(text.utf8)) }

  func offsets(of wanted: [UInt8]) throws -> [Int] {
    let bytes = try bytes
    guard let first = wanted.first, bytes.count >= wanted.count else { return [] }
    return (0...bytes.count - wanted.count).filter { start in
      bytes[start] == first && bytes[start..<start + wanted.count].elementsEqual(wanted)
    }
  }

  /// Flips one bit of the byte at `distance` after the beginning of the text.
  func flip(_ text: String, _ distance: Int = 0) throws { try flip(at: offset(of: text) + distance) }

  func flip(at offset: Int) throws { try write([try bytes[offset] ^ 4], at: offset) }

  /// Overwrites the header of the page that holds the text; the page has to be the leaf of a table.
  func spoilLeaf(with text: String) throws {
    let start = try offset(of: text) / Self.pageSize * Self.pageSize
    try #require(try bytes[start] == 13, "no leaf of a table")
    try write(Array(repeating: 0xEE, count: 16), at: start)
  }

  func remove(_ suffix: String) throws { try FileManager.default.removeItem(atPath: path + suffix) }
}

/// A queue with or without a vault, in a directory of its own.
struct Site: Sendable {
  let directory: String
  var hasVault = false

  var path: String { directory + "/q" }
  var vault: DirectoryVault? { hasVault ? DirectoryVault(directory: directory + "/vault") : nil }
  var damage: Damage { Damage(path: path) }

  func open(at now: Timestamp = noon, limits: QueueLimits = QueueLimits()) throws -> QueueFile {
    try QueueFile(path: path, limits: limits, vault: vault, now: now)
  }

  /// Opens the queue again after damage, as `DurableQueue` does.
  func reopening(_ body: (QueueFile) throws -> Void) throws {
    for second in 1...3 {
      do {
        return try body(open(at: noon.adding(milliseconds: Int64(second))))
      } catch QueueError.damaged {
        continue
      }
    }
    return try body(open(at: noon.adding(milliseconds: 4)))
  }

  /// Queues an entry for each key and closes the file.
  func fill(_ keys: [String], lane: Lane = .account("alice"), bytes: Int = 100) throws {
    let queue = try open()
    for key in keys { _ = try queue.enqueue(entry(key, lane: lane, bytes: bytes), now: noon) }
  }

  /// Files in the directory that belong neither to the queue in use nor to the vault.
  func leftovers() throws -> [String] {
    let usual = ["q", "q-wal", "q-shm", "q-lock", "vault"]
    return try FileManager.default.contentsOfDirectory(atPath: directory).filter { !usual.contains($0) }
      .sorted()
  }
}

func key(_ text: String) -> EntryKey { EntryKey(rawValue: text) }

/// The keys of entries as text.
func names(_ entries: [Entry]) -> [String] { entries.map(\.key.rawValue) }

/// `prefix000`, `prefix001`, …
func numbered(_ prefix: String, _ count: Int) -> [String] {
  (0..<count).map { prefix + String(repeating: "0", count: 3 - "\($0)".count) + "\($0)" }
}
