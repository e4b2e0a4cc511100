import AppStoreDocuments
import AppStoreReceipts
import Foundation
import PurchaseQueue
import Testing

@testable import PurchaseSyncTesting

struct NotificationForgeTests {
  private let forge = NotificationForge(receipts: Sample.forge, environment: .sandbox)

  private var month: StoreTransactionRecord {
    var record = Sample.record(
      "1", product: "monthly", expiresAt: Sample.now.adding(milliseconds: Sample.day))
    record.kind = .autoRenewable
    return record
  }

  @Test func `version 2 reads back, and each of its signatures is the forge's`() throws {
    var renewal = ForgedRenewal(of: month, autoRenewProductID: "yearly")
    renewal.gracePeriodExpiresAt = Sample.now.adding(milliseconds: 2 * Sample.day)
    renewal.isInBillingRetry = true
    renewal.expirationIntent = 2
    let body = forge.version2(
      .didFailToRenew, .gracePeriod, id: "uuid", about: month, renewal: renewal, state: .gracePeriod,
      signedAt: Sample.now)
    let notification = try ServerNotificationV2(json: body.data)
    #expect(notification.kind == .didFailToRenew && notification.subtype == .gracePeriod)
    #expect(notification.bundleID == Sample.bundleID && notification.environment == .sandbox)
    let details = try #require(notification.details)
    for jws in [body["signedPayload"]?.string, details.signedTransaction, details.signedRenewalInfo] {
      #expect(Sample.forge.verify(try #require(jws)))
    }
    let facts = try SubscriptionFacts(notification)
    let now = Sample.now.adding(milliseconds: Sample.day).milliseconds
    let status = try #require(SubscriptionStatus.all(in: facts, at: now).first)
    #expect(status.state == .gracePeriod && status.nextProductID == "yearly" && status.isChangePending)
  }

  @Test func `version 1 reads back with its unified receipt`() throws {
    let receipts = VerifyReceiptForge(bundleID: Sample.bundleID, environment: .sandbox)
    let renewal = ForgedRenewal(of: month, willAutoRenew: false)
    let unified = receipts.unified(
      held: [month], latest: [month], renewals: [renewal], newReceipt: "MII=", requestedAt: Sample.now)
    let body = forge.version1(.didChangeRenewalStatus, unifiedReceipt: unified, renewal: renewal)
    let notification = try ServerNotificationV1(json: body.data)
    #expect(notification.kind == .didChangeRenewalStatus && notification.storeEnvironment == .sandbox)
    #expect(notification.unifiedReceipt?.receipt == nil)
    #expect(notification.unifiedReceipt?.latestReceipt == "MII=")
    let status = SubscriptionStatus.all(in: SubscriptionFacts(notification), at: Sample.now.milliseconds)
    #expect(status.map(\.willAutoRenew) == [false])
    let production = NotificationForge(receipts: Sample.forge).version1(.refund, unifiedReceipt: nil)
    #expect(production["environment"] == "PROD")
    #expect(try ServerNotificationV1(json: production.data).storeEnvironment == .production)
  }

  @Test func `an app transaction reads back`() throws {
    let jws = forge.signedAppTransaction(applicationVersion: "3", createdAt: Sample.now)
    let read = try SignedAppTransaction(jws: jws)
    #expect(try SignedPayloadKind(jws: jws) == .appTransaction)
    #expect(read.environment == .sandbox && read.applicationVersion == "3")
    #expect(read.receiptCreationDate == Sample.now.milliseconds && read.unknownFields.isEmpty)
  }

  @Test(arguments: BrokenJSON.allCases)
  func `a broken body or payload is refused or read, and never traps`(how: BrokenJSON) throws {
    let body = forge.version2(.didRenew, id: "u", about: month, signedAt: Sample.now)
    let signed = try #require(body["signedPayload"]?.string)
    let payload = try JSONValue(json: CompactJWS(signed).payload)
    let old = forge.version1(.didRenew, unifiedReceipt: nil)
    let broken = how.bytes(of: payload)
    // Neither body has a number.
    if how != .hugeNumbers {
      #expect(throws: ReceiptDecodingError.self) { try ServerNotificationV2(json: how.bytes(of: body)) }
      #expect(throws: ReceiptDecodingError.self) { try ServerNotificationV1(json: how.bytes(of: old)) }
    }
    for attempt: () throws -> Void in [
      { _ = try ServerNotificationV2(payload: broken) },
      { _ = try ServerNotificationV2(jws: resigned(broken)) },
      { _ = try SignedTransaction(jws: resigned(broken)) },
    ] {
      #expect(throws: ReceiptDecodingError.self) { try attempt() }
    }
  }

  private func resigned(_ payload: Data) -> String { "e30.\(Base64URL.encode(payload)).e30" }
}
