import Foundation

/// The queue of many apps: one JSON file, which is written under another name and renamed at each change.
final class JSONFileSubject: BenchSubject {
  private struct Item: Codable {
    var id: Int
    var payload: Data
  }

  private let path: String
  private var items: [Item] = []
  private var lastID = 0

  init(path: String) { self.path = path }

  func enqueue(_ payload: [UInt8]) throws {
    lastID += 1
    items.append(Item(id: lastID, payload: Data(payload)))
    try write()
  }

  func acknowledge() throws {
    guard !items.isEmpty else { throw BenchError.emptyQueue }
    items.removeFirst()
    try write()
  }

  func close() {}

  private func write() throws {
    let bytes = Array(try JSONEncoder().encode(items))
    let temporary = path + ".tmp"
    do {
      let file = try SystemFile(replacing: temporary)
      try file.write(bytes)
      try file.syncAll()
    }
    try SystemFile.rename(temporary, to: path)
  }
}
