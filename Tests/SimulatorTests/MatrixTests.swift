import FaultInjection
import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import purchase_simulator

/// Kills at every boundary; a few of them here, all of them by `crash-matrix`.
@Suite(.timeLimit(.minutes(4))) struct MatrixTests {
  @Test(arguments: [
    "purchases/enqueue.committed:2/reinstall", "purchases/backend.receipts.answering:1/old-image",
    "restored/vault.restored:1/relaunch", "device-lane/claim.committed:1/account-switch",
    "receipts/settle.committed:1/relaunch", "update/migration.committed:1/relaunch",
    "update/migration.begin:1/old-image",
  ])
  func `a kill at a boundary loses and doubles nothing`(cell: String) throws {
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

  @Test func `failpoints are at least thirty, each with a name of its own`() {
    #expect(MatrixPoint.all.count >= 30)
    #expect(Set(MatrixPoint.all.map(\.name)).count == MatrixPoint.all.count)
    for point in MatrixPoint.all {
      let cell = MatrixCell(scenario: "update", point: point, hit: 3, fate: .oldImage)
      #expect(MatrixCell(name: cell.name) == cell)
    }
    #expect(MatrixCell(name: "update/settle.committed:0/relaunch") == nil)
    #expect(MatrixCell(name: "update/nothing:1/relaunch") == nil)
  }

  @Test func `a failpoint of the list is one that the code passes, and no other`() throws {
    let names = Set(MatrixPoint.all.map(\.name))
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
    for name in names where !name.hasPrefix("backend.") {
      #expect(code.contains("\"\(name)\""), "nothing passes \(name)")
    }
    for match in code.matches(of: /hook\?\("([a-z.-]+)"\)/) {
      let name = String(match.1)
      // What happens only beside the way of a purchase.
      let rare = [
        "quarantine.committed", "release.committed", "entries.set-apart", "salvage.begin", "salvage.done",
      ]
      #expect(
        names.contains(name) || rare.contains(name) || name.hasSuffix("-failed"), "\(name) is not in the list"
      )
    }
  }

  @Test func `a file of the first version holds what the present one held`() throws {
    try TemporaryDirectory.with("EarlierFile") { directory in
      let path = directory + "/q"
      let now = Timestamp(milliseconds: 1_700_000_000_000)
      var queue: QueueFile? = try QueueFile(path: path, now: now)
      for name in ["a", "b"] {
        let new = NewEntry(
          key: EntryKey(rawValue: "Production/" + name), lane: .account("alice"),
          orderNumber: "order-" + name,
          details: "details of " + name, proofs: [Proof(kind: "appReceipt", bytes: [1, 2, 3])])
        _ = try queue?.enqueue(new, now: now)
      }
      try queue?.connection.execute(
        "CREATE TABLE orders(number TEXT, account_token TEXT, account TEXT, product TEXT, quantity INT, state TEXT, created_at INT)"
      )
      queue = nil
      try EarlierFile.rewrite(path)
      let migrated = try QueueFile(path: path, now: now).allEntries()
      #expect(migrated.map(\.key.rawValue) == ["Production/a", "Production/b"])
      #expect(migrated.map(\.orderNumber) == ["order-a", "order-b"])
      #expect(migrated.allSatisfy { $0.proofs.count == 1 })
    }
  }
}
