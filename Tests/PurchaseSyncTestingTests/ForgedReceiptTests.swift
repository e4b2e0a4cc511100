import AppStoreReceipts
import PurchaseQueue
import Testing

@testable import PurchaseSyncTesting

struct ForgedReceiptTests {
  private static var records: [StoreTransactionRecord] {
    let expires = Sample.now.adding(milliseconds: Sample.day)
    return [
      Sample.record("42", original: "41", product: "yearly", quantity: 3, expiresAt: expires),
      Sample.record("43"),
    ]
  }

  /// App receipts have whole seconds.
  private static func seconds(_ timestamp: Timestamp) -> Int64 { timestamp.milliseconds / 1_000 * 1_000 }

  @Test(arguments: [ForgedAppReceipt.Form.der, .ber(pieces: 3), .berThroughout(pieces: 2)])
  func `an app receipt decodes to the charged transactions`(form: ForgedAppReceipt.Form) throws {
    let bytes = Sample.forge.appReceipt(of: Self.records, createdAt: Sample.now, form: form)
    let receipt = try AppReceipt(decoding: bytes)
    #expect(receipt.bundleID == Sample.bundleID && receipt.environment == .sandbox)
    #expect(receipt.receiptCreationDate == Self.seconds(Sample.now))
    #expect(receipt.inApp.map(\.transactionID) == ["42", "43"])
    #expect(receipt.inApp.map(\.originalTransactionID) == ["41", "43"])
    #expect(receipt.inApp.map(\.quantity) == [3, Self.records[1].quantity])
    #expect(receipt.inApp[0].purchaseDate == Self.seconds(Self.records[0].purchasedAt))
    #expect(receipt.inApp[0].expiresDate == Self.records[0].expiresAt.map(Self.seconds))
    #expect(receipt.inApp[1].expiresDate == nil)
  }

  @Test(arguments: ForgedTransactionReceipt.Form.allCases)
  func `a transaction receipt decodes to the charged transaction`(form: ForgedTransactionReceipt.Form) throws
  {
    for record in Self.records {
      let bytes = Sample.forge.transactionReceipt(of: record, form: form)
      let receipt = try TransactionReceipt(decoding: bytes)
      #expect(receipt.transactionID == record.transactionID && receipt.productID == record.productID)
      #expect(receipt.originalTransactionID == record.originalTransactionID)
      #expect(receipt.quantity == record.quantity && receipt.environment == record.environment)
      #expect(receipt.purchaseDate == record.purchasedAt.milliseconds)
      #expect(receipt.expiresDate == record.expiresAt?.milliseconds)
    }
  }
}
