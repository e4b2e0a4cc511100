import AppStoreReceipts
import Foundation

/// The hidden command `bench-load`: works on a queue, and measures how much memory that took.
package struct BenchLoad {
  let options: BenchLoadOptions

  package init(options: BenchLoadOptions) { self.options = options }

  /// Returns the peak memory in kilobytes, or the number that the work prints; nil where the system does not say it.
  package func run() throws -> Int? {
    switch options.work {
    case .idle: break
    case .read, .decode: try decode()
    case .enqueue, .acknowledge, .cycle: try work()
    case .contend: return try contend()
    case .open:
      for _ in 0..<options.count {
        let queue = try QueueSubject(path: options.path)
        try queue.peek()
        queue.close()
      }
    }
    return try PeakMemory.ofThisProcess()
  }

  private func work() throws {
    let queue = try QueueSubject(path: options.path, vault: options.vault.isEmpty ? nil : options.vault)
    defer { queue.close() }
    // Seeded by the process, so that two processes on one file queue different payloads.
    var payloads = Payloads(seed: UInt64(ProcessInfo.processInfo.processIdentifier))
    try queue.fill(to: options.length, from: &payloads)
    for _ in 0..<options.count {
      switch options.work {
      case .enqueue: try queue.enqueue(payloads.next())
      case .acknowledge: try queue.acknowledge()
      case .cycle:
        try queue.enqueue(payloads.next())
        try queue.acknowledge()
      case .idle, .read, .decode, .contend, .open: break
      }
    }
  }

  private func contend() throws -> Int {
    let queue = try QueueSubject(path: options.path)
    defer { queue.close() }
    var payloads = Payloads(seed: UInt64(ProcessInfo.processInfo.processIdentifier))
    let ready = payloads.next(options.count, of: BenchPlan.payloadBytes)
    return Int(try Samples.measure(options.count) { try queue.enqueue(ready[$0]) }.percentile(99))
  }

  private func decode() throws {
    // Piece by piece: a second copy would hide the memory that decoding takes.
    let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: options.path))
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Int(try file.seekToEnd()))
    try file.seek(toOffset: 0)
    while let part = try file.read(upToCount: 1 << 16), !part.isEmpty { bytes += part }
    guard options.work == .decode else { return }
    let receipt = try AppReceipt(decoding: bytes)
    guard !receipt.inApp.isEmpty else { throw BenchError.noSamples("a receipt without transactions") }
  }
}

/// The peak of the resident memory of a process.
enum PeakMemory {
  /// In kilobytes; nil without /proc. With `VmRSS:`, the resident memory now.
  static func ofThisProcess(_ name: String = "VmHWM:") throws -> Int? {
    let status = "/proc/self/status"
    guard FileManager.default.fileExists(atPath: status) else { return nil }
    return parse(try String(contentsOfFile: status, encoding: .utf8), name)
  }

  /// The line `VmHWM:     12345 kB`.
  static func parse(_ status: String, _ name: String = "VmHWM:") -> Int? {
    status.split(separator: "\n").first { $0.hasPrefix(name) }?
      .split { $0 == " " || $0 == "\t" }.dropFirst().first.flatMap { Int($0) }
  }
}
