import Foundation
import PurchaseQueue
import Testing

let noon = Timestamp(milliseconds: 1_700_000_000_000)

/// Lends a new directory and removes it afterwards.
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
    proofs: [Proof(kind: "proof", bytes: Array(repeating: key.utf8.reduce(0, ^), count: bytes))])
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

/// A vault that is locked until it is told otherwise.
final class LockableVault: ReceiptVault, @unchecked Sendable {
  var isLocked = false
  private let inner: DirectoryVault

  init(directory: String) { inner = DirectoryVault(directory: directory) }

  func store(_ item: VaultItem) throws(VaultError) {
    if isLocked { throw .locked }
    try inner.store(item)
  }

  func remove(named name: String) throws(VaultError) {
    if isLocked { throw .locked }
    try inner.remove(named: name)
  }

  func list() throws(VaultError) -> [VaultItem] {
    if isLocked { throw .locked }
    return try inner.list()
  }
}
