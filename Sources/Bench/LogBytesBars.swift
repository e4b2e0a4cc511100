/// Bar 6: how many bytes reach the write-ahead log for each byte of payload.
enum LogBytesBars {
  /// Few enough that no checkpoint comes in between: SQLite makes one at 1,000 pages.
  private static let operations = 20

  static func section(_ workbench: Workbench) throws -> BenchSection {
    let enqueue = try perPayloadByte(workbench) { queue, payload in try queue.enqueue(payload) }
    let cycle = try perPayloadByte(workbench) { queue, payload in
      try queue.enqueue(payload)
      try queue.acknowledge()
    }
    return BenchSection(
      title: "bytes written to the log, 8 KB",
      bars: [
        Bar(
          number: 6, what: "log bytes per payload byte, enqueue", measured: enqueue, bound: .atMost(3.2)),
        Bar(
          number: 6, what: "log bytes per payload byte, enqueue + ack", measured: cycle, bound: .atMost(4.6)),
      ])
  }

  private static func perPayloadByte(
    _ workbench: Workbench, _ work: (QueueSubject, [UInt8]) throws -> Void
  ) throws -> Double {
    try workbench.scratch { try perPayloadByte($0 + "/queue.sqlite", work) }
  }

  private static func perPayloadByte(
    _ path: String, _ work: (QueueSubject, [UInt8]) throws -> Void
  ) throws -> Double {
    var payloads = Payloads(seed: 6)
    // The last connection to close makes a checkpoint and removes the log, so that the next log starts empty.
    let filling = try QueueSubject(path: path)
    try filling.fill(to: BenchPlan.length, from: &payloads)
    filling.close()

    let queue = try QueueSubject(path: path)
    defer { queue.close() }
    let begin = try LogFile.bytes(in: path + "-wal")
    var size = begin
    for _ in 0..<operations {
      try work(queue, payloads.next())
      let next = try LogFile.bytes(in: path + "-wal")
      // After a checkpoint the log is written again from its start, with another salt.
      guard next > size else {
        throw BenchError.logDidNotGrow(path: path + "-wal", before: size, after: next)
      }
      size = next
    }
    return Double(size - begin) / Double(operations * BenchPlan.payloadBytes)
  }
}
