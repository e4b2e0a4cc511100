import CommandTestSupport
import Foundation
import ProcessFaults
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync
import PurchaseSyncTesting
import TestSupport
import Testing

@testable import purchase_simulator

/// A few kills; `crash-matrix` runs all of them.
@Suite struct MatrixTests {
  @Test(arguments: [
    "purchases/enqueue.committed:2/reinstall", "purchases/backend.receipts.answering:1/old-image",
    "restored/vault.restored:1/relaunch", "device-lane/adoption.committed:1/account-switch",
    "receipts/settle.committed:1/relaunch", "update/migration.committed:1/relaunch",
    "update/migration.begin:1/old-image",
  ])
  func `a kill at a checkpoint loses and doubles nothing`(cell: String) throws {
    struct Row: Decodable {
      var cell: String
      var wasKilled: Bool
      var isClean: Bool
      var words: String
    }
    let result = try CommandResult(of: ["crash-matrix", "--cell", cell, "--json"])
    #expect(result.status == 0, "\(result.errors)")
    let row = try JSONDecoder().decode(Row.self, from: Data(result.output.utf8))
    #expect(row.cell == cell && row.wasKilled && row.isClean, "\(row)")
  }

  @Test func `there are at least thirty checkpoints, each with its own name`() {
    #expect(MatrixPoint.all.count >= 30)
    #expect(Set(MatrixPoint.all.map(\.name)).count == MatrixPoint.all.count)
    for point in MatrixPoint.all {
      let cell = MatrixCell(scenario: "update", point: point, hit: 3, aftermath: .oldImage)
      #expect(MatrixCell(name: cell.name) == cell)
    }
    #expect(MatrixCell(name: "update/settle.committed:0/relaunch") == nil)
    #expect(MatrixCell(name: "update/nothing:1/relaunch") == nil)
  }

  @Test func `the matrix covers every checkpoint or names it as exempt`() {
    let covered = Set(MatrixPoint.all.compactMap { Checkpoint(rawValue: $0.name) })
    let exempt = Set(MatrixPoint.exempt.keys)
    #expect(covered.union(exempt) == Set(Checkpoint.allCases))
    #expect(covered.isDisjoint(with: exempt))
    #expect(MatrixPoint.exempt.values.allSatisfy { !$0.isEmpty })
    let names = Set(MatrixPoint.all.map(\.name))
    #expect(AppCheckpoint.allCases.allSatisfy { names.contains($0.rawValue) })
    #expect(BackendCheckpoint.allCases.allSatisfy { names.contains($0.rawValue) })
  }

  @Test func `the code passes every checkpoint`() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    var code = ""
    for folder in [
      "Sources/PurchaseQueue", "Sources/PurchaseSync", "Sources/FaultInjection", "Simulator/App",
      "Simulator/Matrix",
    ] {
      let files = FileManager.default.enumerator(atPath: root.appendingPathComponent(folder).path)
      while let file = files?.nextObject() as? String {
        guard file.hasSuffix(".swift"), !file.hasSuffix("MatrixPoint.swift") else { continue }
        code += try String(contentsOf: root.appendingPathComponent(folder + "/" + file), encoding: .utf8)
      }
    }
    for checkpoint in Checkpoint.allCases {
      #expect(code.contains("checkpoint?(.\(checkpoint))"), "nothing passes \(checkpoint)")
    }
    for checkpoint in AppCheckpoint.allCases {
      #expect(code.contains("checkpoints.pass(.\(checkpoint))"), "nothing passes \(checkpoint)")
    }
    for checkpoint in BackendCheckpoint.allCases {
      #expect(code.contains(".\(checkpoint)"), "nothing passes \(checkpoint)")
    }
  }

  @Test func `a file of an earlier version keeps entries, orders and proofs`() throws {
    try TemporaryDirectory.with("EarlierFile") { directory in
      let path = directory + "/q"
      let now = Timestamp(milliseconds: 1_700_000_000_000)
      var queue: QueueFile? = try QueueFile(path: path, now: now)
      for name in ["a", "b"] {
        let new = NewEntry(
          key: EntryKey(rawValue: "Production/" + name), lane: .account("alice"),
          orderNumber: "order-" + name,
          details: "details of " + name, payloads: [Payload(kind: "appReceipt", bytes: [1, 2, 3])])
        _ = try queue?.enqueue(new, now: now)
      }
      queue = nil
      try EarlierFile.rewrite(path)
      let migrated = try QueueFile(path: path, now: now).allEntries()
      #expect(migrated.map(\.key.rawValue) == ["Production/a", "Production/b"])
      #expect(migrated.map(\.orderNumber) == ["order-a", "order-b"])
      #expect(migrated.allSatisfy { $0.payloads.count == 1 })
    }
  }
}
