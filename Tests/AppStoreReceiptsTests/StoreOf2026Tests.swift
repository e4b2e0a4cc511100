import AppStoreDocuments
import AppStoreReceipts
import Foundation
import Testing

/// Words and fields that the store has since iOS 27.
@Suite struct StoreOf2026Tests {
  @Test func `an app transaction says when the app was taken back, and which store it is from`() throws {
    let read = try SignedAppTransaction(
      payload: Data(
        #"{"receiptType":"Production","originalPlatform":"managed","revocationDate":7,"storeType":"x"}"#.utf8)
    )
    #expect(read.revocationDate == 7)
    #expect(read.storeType == "x")
    #expect(read.originalPlatform == .managed)
    #expect(read.unknownFields.isEmpty)
  }

  @Test func `a form of these fields that no page describes hides nothing else`() throws {
    let read = try SignedAppTransaction(
      payload: Data(
        #"{"receiptType":"Production","revocationDate":{"at":7},"storeType":[1],"bundleId":"a"}"#.utf8))
    #expect(read.revocationDate == nil)
    #expect(read.storeType == nil)
    #expect(read.bundleID == "a")
    #expect(read.unknownFields["storeType"] != nil)
  }

  @Test func `an offer of a retention message is known`() throws {
    let read = try SignedTransaction(
      payload: Data(
        """
        {"transactionId":"1","originalTransactionId":"1","bundleId":"a","productId":"p","purchaseDate":1,
         "type":"Auto-Renewable Subscription","environment":"Production","offerType":5}
        """.utf8))
    #expect(read.offerType == .retention)
  }
}
