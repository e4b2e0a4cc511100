/// The smallest durable log: it appends, and syncs the data.
final class AppendSubject: BenchSubject {
  private let file: SystemFile

  init(path: String) throws(BenchError) { file = try SystemFile(appendingTo: path) }

  func enqueue(_ payload: [UInt8]) throws {
    try file.write(payload)
    try file.syncData()
  }

  func acknowledge() throws { throw BenchError.emptyQueue }

  func close() {}
}
