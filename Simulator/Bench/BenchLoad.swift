import AppStoreReceipts
import Foundation

/// The hidden `bench-load`: works a queue as it is told, and says how much memory that took.
struct BenchLoad {
  let options: BenchLoadOptions

  func execute() -> Int32 {
    do {
      switch options.work {
      case .idle: break
      case .read, .decode: try decode()
      case .enqueue, .acknowledge, .cycle: try work()
      }
      if let peak = try PeakMemory.ofThisProcess() { Terminal.line("\(peak)") }
      return ExitCode.ok
    } catch {
      Terminal.error("purchase-simulator: bench-load \(options.work.rawValue): \(error)")
      return ExitCode.internal
    }
  }

  private func work() throws {
    let queue = try QueueSubject(path: options.path)
    defer { queue.close() }
    // By the process, so that two that work one file queue different payloads.
    var payloads = Payloads(seed: UInt64(ProcessInfo.processInfo.processIdentifier))
    try queue.fill(to: options.length, from: &payloads)
    for _ in 0..<options.count {
      switch options.work {
      case .enqueue: try queue.enqueue(payloads.next())
      case .acknowledge: try queue.acknowledge()
      case .cycle:
        try queue.enqueue(payloads.next())
        try queue.acknowledge()
      case .idle, .read, .decode: break
      }
    }
  }

  private func decode() throws {
    // Piece by piece: a second copy of it would hide what decoding takes.
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

/// The most memory that a process has had resident.
enum PeakMemory {
  /// In kilobytes; nil where the system does not tell it in /proc.
  static func ofThisProcess() throws -> Int? {
    let status = "/proc/self/status"
    guard FileManager.default.fileExists(atPath: status) else { return nil }
    return parse(try String(contentsOfFile: status, encoding: .utf8))
  }

  /// What it holds now, in kilobytes; nil where the system does not tell it in /proc.
  static func nowOfThisProcess() throws -> Int? {
    let status = "/proc/self/status"
    guard FileManager.default.fileExists(atPath: status) else { return nil }
    return parse(try String(contentsOfFile: status, encoding: .utf8), "VmRSS:")
  }

  /// The line `VmHWM:     12345 kB`.
  static func parse(_ status: String, _ name: String = "VmHWM:") -> Int? {
    status.split(separator: "\n").first { $0.hasPrefix(name) }?
      .split { $0 == " " || $0 == "\t" }.dropFirst().first.flatMap { Int($0) }
  }
}
