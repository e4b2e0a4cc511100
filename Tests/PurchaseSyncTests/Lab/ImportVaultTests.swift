import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// An import into a queue whose vault fails, and whose file fails with it.
@Suite struct ImportVaultTests {
  @Test func `an item stays if the vault lacks it and the file cannot say so`() async throws {
    try await BuyingFixture.with { fixture in
      let transaction = try await fixture.store.pay(product: "gems", quantity: 1, accountToken: nil)
      let item = EarlierPurchase(id: "x", document: transaction.proof.bytes, account: "alice")
      let vault = SpoilingVault()
      let configuration = try fixture.configuration("phone", vault: vault)
      vault.path.withLock { $0 = configuration.path }
      let report = try SyncEngine.importPurchases([item], into: configuration)
      #expect(report.taken.isEmpty && report.kept.map(\.reason) == [.unprotected])
      let connection = try Connection(path: configuration.path)
      let flags = try connection.prepare("SELECT unprotected FROM entries").all([]) { $0.flag(0) }
      #expect(flags == [false])
    }
  }
}

/// Refuses everything. Asked to store a payload, it keeps the queue from writing to the rows of its entries.
private final class SpoilingVault: QueueVault {
  let path = Locked("")
  var itemBytes: Int { 16 << 10 }

  func store(_ item: VaultItem) throws(VaultError) {
    guard item.name.hasPrefix("payload.") else { throw .locked }
    do {
      let connection = try Connection(path: path.value)
      try connection.execute(
        """
        CREATE TRIGGER IF NOT EXISTS spoiled BEFORE UPDATE ON entries
        BEGIN SELECT RAISE(ABORT, 'imitated'); END
        """)
    } catch {
      Issue.record(error)
    }
    throw .locked
  }

  func remove(named name: String) throws(VaultError) { throw .locked }
  func list() throws(VaultError) -> [String] { throw .locked }
  func item(named name: String) throws(VaultError) -> VaultItem? { nil }
}
