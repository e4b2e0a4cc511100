import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync
import TestSupport
import Testing

@testable import PurchaseSyncTesting

/// Tables A, B and C in the file (R3.5 to R3.7).
struct BackendTableTests {
  private let directory: TemporaryDirectory
  private let backend: BackendStore
  private let path: String

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.path("backend.sqlite")
    backend = try BackendStore(path: path, bundleID: Sample.bundleID, seed: 1)
  }

  private func column(_ sql: String) throws -> [String] {
    let connection = try Connection(path: path)
    return try connection.prepare(sql).all { $0.text(0) }
  }

  private func upload(
    _ proof: ProofDocument, _ record: StoreTransactionRecord, in store: StoreModel,
    from uploader: Uploader = .account("alice"), device: UUID = UUID(), at now: Timestamp = Sample.now
  ) throws -> Verdict? {
    let request = UploadRequest(device: device, proof: proof, claims: [Sample.claim(for: record)])
    return try backend.perform { model in
      let judged = model.judge(
        request, from: uploader, now: now, answers: { store.answer(to: $0, now: now) })
      return (judged.verdicts.first?.verdict, judged.writes)
    }
  }

  @Test(arguments: [
    (
      "table_a",
      "transaction_id original_transaction_id receipt_data createtime uuid uid data create_type notify_type"
    ),
    ("table_b", "transaction_id original_transaction_id receipt createtime updatetime"),
    (
      "table_c",
      """
      uid uuid transaction_id product_id original_transaction_id quantity purchase_date_ms \
      original_purchase_date_ms expires_date_ms cancellation_date_ms is_trial_period auto_renew_status \
      web_order_line_item_id is_in_intro_offer_period is_subscription createtime updatetime \
      subscription_fee_status
      """
    ),
  ])
  func `each table has exactly its columns`(table: String, columns: String) throws {
    let names = try column("SELECT name FROM pragma_table_info('\(table)') ORDER BY cid")
    #expect(names == columns.split(separator: " ").map(String.init))
  }

  @Test func `a repeated upload leaves one row in each table, a refund changes the expiry of its row`() throws
  {
    var store = Sample.store()
    let bought = try store.buy("monthly")
    let receipt = try store.proof(.appReceipt, of: bought)
    let device = UUID()
    #expect(try upload(receipt, bought, in: store, device: device) == .granted)
    #expect(try upload(receipt, bought, in: store, device: device) == .duplicate)
    for table in ["table_a", "table_b", "table_c"] {
      #expect(try column("SELECT count(*) FROM \(table)") == ["1"])
    }
    #expect(
      try column("SELECT create_type || ' ' || uid || ' ' || uuid FROM table_a")
        == ["1 alice \(device.uuidString)"])
    #expect(try column("SELECT receipt_data FROM table_a") == [receipt.data])
    #expect(try column("SELECT receipt FROM table_b") == [receipt.data])
    let row = "SELECT uid || ' ' || expires_date_ms || ' ' || subscription_fee_status FROM table_c"
    let end = Sample.now.adding(milliseconds: 30 * Sample.day).milliseconds
    #expect(try column(row) == ["alice \(end) 1"])
    let refundedAt = Sample.now.adding(milliseconds: 77)
    try store.refund(transactionID: bought.transactionID, now: refundedAt)
    #expect(try upload(receipt, bought, in: store, device: device, at: refundedAt) == .refunded)
    #expect(try column(row) == ["alice \(refundedAt.milliseconds) 2"])
    #expect(try column("SELECT count(*) FROM table_c WHERE cancellation_date_ms IS NOT NULL") == ["1"])
    let again = try BackendStore(path: path, bundleID: Sample.bundleID, seed: 1)
    #expect(try again.model() == backend.model())
  }

  @Test func `the rows of an adopted device get the account, also later grants`() throws {
    var store = Sample.store()
    let device = UUID()
    let records = [try store.buy(), try store.buy()]
    #expect(
      try upload(
        store.proof(.signedTransaction, of: records[0]), records[0], in: store, from: .device(device),
        device: device)
        == .granted)
    let rows = "SELECT ifnull(uid, '-') || ' ' || uuid FROM table_c ORDER BY rowid"
    #expect(try column(rows) == ["- \(device.uuidString)"])
    try backend.change { model in
      model.adoptDevice(device, for: "alice", now: Sample.now.adding(milliseconds: 5))
    }
    #expect(try column(rows) == ["alice \(device.uuidString)"])
    // Bought before the claim, uploaded after it.
    _ = try upload(
      store.proof(.signedTransaction, of: records[1]), records[1], in: store, from: .device(device),
      device: device, at: Sample.now.adding(milliseconds: 9))
    #expect(try column(rows) == Array(repeating: "alice \(device.uuidString)", count: 2))
    let again = try BackendStore(path: path, bundleID: Sample.bundleID, seed: 1)
    #expect(try again.model() == backend.model())
  }

  @Test func `rows name the job or the notification as their source, and only tables A and B have receipts`()
    throws
  {
    var store = Sample.store()
    let bought = try store.buy("monthly")
    let receipt = try store.proof(.appReceipt, of: bought)
    let answer = store.answer(to: .proof(receipt), now: Sample.now)
    for source in [KnowledgeSource.job, .notification("DID_RENEW")] {
      try backend.change { model in
        model.learn([Lesson(proof: receipt, answer: answer)], source: source, now: Sample.now)
      }
    }
    let types = "SELECT create_type || ' ' || ifnull(notify_type, '-') FROM table_a ORDER BY rowid"
    #expect(try column(types) == ["2 -", "3 DID_RENEW"])
    #expect(try column("SELECT count(*) FROM table_c WHERE uid IS NULL AND uuid IS NULL") == ["1"])
    #expect(try column("SELECT data FROM table_a").allSatisfy { !$0.contains(receipt.data) })
  }

  @Test func `a backup holds the proofs, and a restored one has them again`() throws {
    var store = Sample.store()
    let bought = try store.buy("monthly")
    let receipt = try store.proof(.appReceipt, of: bought)
    _ = try upload(receipt, bought, in: store)
    let backup = try backend.backUp()
    let before = try backend.model()
    let later = try store.buy("monthly", as: "b")
    _ = try upload(store.proof(.appReceipt, of: later), later, in: store)
    try backend.restore(backup)
    for table in ["table_a", "table_b", "table_c"] {
      #expect(try column("SELECT count(*) FROM \(table)") == ["1"])
    }
    #expect(try column("SELECT receipt FROM table_b") == [receipt.data])
    #expect(try backend.model().purchases == before.purchases)
    #expect(!"\(backup)".contains(receipt.data))
  }

  @Test func `a file of another schema version is refused with its number, and left as it is`() throws {
    let old = directory.path("old.sqlite")
    let connection = try Connection(path: old)
    try connection.execute("CREATE TABLE credits (a); PRAGMA user_version=2")
    let bytes = try Data(contentsOf: URL(filePath: old))
    do throws(BackendStoreError) {
      _ = try BackendStore(path: old, bundleID: Sample.bundleID, seed: 1)
      Issue.record("a file of version 2 was opened")
    } catch {
      #expect(error.description.contains("schema version 2"))
    }
    #expect(try Data(contentsOf: URL(filePath: old)) == bytes)
  }
}
