import AppStoreReceipts
import Foundation
import PurchaseQueue
import Testing

@testable import PurchaseSyncTesting

struct ReceiptForgeTests {
  @Test func `a signed transaction decodes to the charged transaction`() throws {
    let token = UUID()
    let expires = Sample.now.adding(milliseconds: Sample.day)
    let record = Sample.record(
      "42", original: "41", product: "a \"quoted\"\n\\ product é", quantity: 3, token: token,
      expiresAt: expires,
      environment: .sandbox)
    let read = try SignedTransaction(jws: Sample.forge.signedTransaction(record, signedAt: Sample.now))
    #expect(read.transactionID == "42")
    #expect(read.originalTransactionID == "41")
    #expect(read.productID == record.productID)
    #expect(read.quantity == 3)
    #expect(read.bundleID == Sample.bundleID)
    #expect(read.purchaseDate == Sample.now.milliseconds)
    #expect(read.expiresDate == expires.milliseconds)
    #expect(read.appAccountToken == token.uuidString.lowercased())
    #expect(read.environment == .sandbox)
    #expect(read.revocationDate == nil)
  }

  @Test func `a change of any single character is detected`() {
    let jws = Sample.forge.signedTransaction(Sample.record(), signedAt: Sample.now)
    #expect(Sample.forge.verify(jws))
    for index in jws.indices {
      var altered = jws
      altered.replaceSubrange(index...index, with: jws[index] == "A" ? "B" : "A")
      #expect(!Sample.forge.verify(altered))
    }
  }

  @Test(arguments: ["", ".", "..", "a.b.c", "no dots", "a.b.", "é.é.é"])
  func `text of no forge is not verified`(text: String) {
    #expect(!Sample.forge.verify(text))
  }

  @Test func `a text of another forge is not verified`() {
    let other = ReceiptForge(bundleID: Sample.bundleID, key: 1)
    #expect(!Sample.forge.verify(other.signedTransaction(Sample.record(), signedAt: Sample.now)))
  }

  @Test func `the same arguments give the same text`() {
    let texts = (0..<2).map { _ in Sample.forge.signedTransaction(Sample.record(), signedAt: Sample.now) }
    #expect(texts[0] == texts[1])
  }
}
