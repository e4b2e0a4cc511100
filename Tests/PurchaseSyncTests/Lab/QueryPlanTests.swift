import Foundation
import PurchaseQueue
import PurchaseSQLite
import Testing

@testable import PurchaseSync

/// What SQLite reads for a statement, by its own plan. It does not depend on the rows.
@Suite struct QueryPlanTests {
  /// The indexes of a condition that few rows meet.
  private static let small = ["tombstones_with_duties", "orders_with_notice", "orders_by_existing"]

  @Test func `a purchase costs the same after thousands of purchases`() throws {
    let directory = FileManager.default.temporaryDirectory.path + "/QueryPlan-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    defer {
      do { try FileManager.default.removeItem(atPath: directory) } catch { Issue.record(error) }
    }
    let file = try SyncFile(queue: QueueFile(path: directory + "/q", now: midday))
    let statements = found(in: file.queue) + found(in: file.statements) + found(in: file.journal.statements)
    #expect(statements.count > 50)
    var readers: Set<String> = []
    for statement in statements {
      let plan = try file.queue.connection.prepare("EXPLAIN QUERY PLAN " + statement.text)
        .all(nulls(for: statement.text)) { $0.text(3) }
      // The first one of a sequence is found at once.
      let isFirst =
        statement.text.contains("ORDER BY") && statement.text.hasSuffix("LIMIT 1")
        && !plan.contains { $0.contains("TEMP B-TREE") }
      if !isFirst, plan.contains(where: readsAll) { readers.insert(statement.name) }
    }
    #expect(
      readers == [
        // For a screen.
        "statements.entries.all", "all",
        // For an order that is not in the journal.
        "statements.entries.ofOrder",
        // When the tombstones are full: once for each sixteenth of them.
        "statements.tombstones.oldest",
        // When the backend says that it has lost its ledger.
        "oweEverything",
      ])
  }

  /// A step that reads a whole table, or an index of all its rows.
  private func readsAll(_ step: String) -> Bool {
    let tables = ["entries", "payloads", "tombstones", "orders", "facts", "pending_updates"]
    guard tables.contains(where: { step.hasPrefix("SCAN " + $0) }) else { return false }
    return !Self.small.contains { step.contains("INDEX " + $0) }
  }

  private func nulls(for text: String) -> [SQLValue] {
    let numbered = text.matches(of: /\?(\d+)/).compactMap { Int($0.1) }
    return Array(repeating: .null, count: numbered.max() ?? text.count { $0 == "?" })
  }

  private func found(in owner: Any, as name: String = "") -> [(name: String, text: String)] {
    if let statement = owner as? PreparedStatement { return [(name, statement.text)] }
    return Mirror(reflecting: owner).children.flatMap { child in
      found(in: child.value, as: [name, child.label ?? ""].filter { !$0.isEmpty }.joined(separator: "."))
    }
  }
}
