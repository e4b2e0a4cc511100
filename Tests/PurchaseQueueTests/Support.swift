import Foundation
import PurchaseQueue
import PurchaseSQLite
import Testing

let noon = Timestamp(milliseconds: 1_700_000_000_000)

/// Runs `body` with a new directory and removes it afterwards.
func withTemporaryDirectory(_ body: (String) async throws -> Void) async throws {
  let directory = FileManager.default.temporaryDirectory.path + "/PurchaseQueueTests-" + UUID().uuidString
  try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
  defer {
    do {
      try FileManager.default.removeItem(atPath: directory)
    } catch {
      Issue.record(error, "the temporary directory stays behind")
    }
  }
  try await body(directory)
}

func entry(_ key: String, lane: Lane = .account("alice"), order: String? = nil, bytes: Int = 100) -> NewEntry
{
  NewEntry(
    key: EntryKey(rawValue: key), lane: lane, orderNumber: order, details: "details of \(key)",
    payloads: [Payload(kind: "payload", bytes: Array(repeating: key.utf8.reduce(0, ^), count: bytes))])
}

/// Every file of a directory with its bytes.
func files(in directory: String) throws -> [String: Data] {
  var files: [String: Data] = [:]
  for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
    let path = directory + "/" + name
    let type = try FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
    files[name] = type == .typeDirectory ? Data() : try Data(contentsOf: URL(fileURLWithPath: path))
  }
  return files
}

/// Entries in their lanes and bytes of payloads.
func used(_ queue: QueueFile) throws -> [Int] {
  let health = try queue.health()
  return [health.queued, health.bytes]
}

/// Waits for a state. It throws nothing of its own, so that the test goes on in any case.
func until(
  at location: SourceLocation = #_sourceLocation, _ isSo: () async throws -> Bool
) async rethrows {
  for _ in 0..<60_000 {
    if try await isSo() { return }
    await Patience().pause(1_000)
  }
  Issue.record("waited in vain", sourceLocation: location)
}

/// Ends the process of an exit test unless this holds.
func demand(_ holds: Bool, line: UInt = #line) {
  guard holds else { preconditionFailure("line \(line)") }
}

extension RandomSource {
  /// A number from 0 to `limit - 1`.
  mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }
}

extension Lane {
  static let device: Lane = "device"
  static func account(_ name: String) -> Lane { Lane(rawValue: "account:" + name) }
}
