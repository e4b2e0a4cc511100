import AppStoreDocuments
import AppStoreReceipts
import Foundation
import PurchaseQueue
import TestSupport
import Testing

@testable import PurchaseSyncTesting

struct VerifyReceiptForgeTests {
  private let start = Sample.now
  private var end: Timestamp { start.adding(milliseconds: 30 * Sample.day) }

  private func month(_ id: String, original: String? = nil, product: String = "monthly", at moment: Timestamp)
    -> StoreTransactionRecord
  {
    var forged = Sample.record(
      id, original: original, product: product, token: UUID(),
      expiresAt: moment.adding(milliseconds: 30 * Sample.day), purchasedAt: moment)
    forged.groupID = "20577287"
    forged.webOrderLineItemID = "10000000\(id)"
    return forged
  }

  @Test(arguments: [false, true])
  func `an answer in the unified style reads back`(writesNumbers: Bool) throws {
    let forge = VerifyReceiptForge(
      bundleID: Sample.bundleID, environment: .sandbox, writesNumbers: writesNumbers)
    var first = month("9007199254740993", at: start)
    first.isTrial = true
    let coins = Sample.record("7", quantity: 3)
    let value = forge.unified(
      held: [coins], latest: [coins, first], renewals: [ForgedRenewal(of: first)], newReceipt: "MII=",
      requestedAt: start)
    let response = try VerifyReceiptResponse(json: value.data)
    #expect(response.action == .ok && response.environment == .sandbox)
    #expect(response.bundleID == Sample.bundleID && response.latestReceipt == "MII=")
    #expect(response.transactions.map(\.transactionID) == ["7", "7", "9007199254740993"])
    let read = try #require(response.latestTransactions.last)
    #expect(read.purchaseDate == start.milliseconds && read.expiresDate == end.milliseconds)
    #expect(read.isTrialPeriod == true && read.subscriptionGroupID == "20577287")
    #expect(read.appAccountToken == first.accountToken?.uuidString.lowercased())
    #expect(response.latestTransactions.first?.quantity == 3)
    #expect(response.unknownFields.isEmpty && response.transactions.allSatisfy(\.unknownFields.isEmpty))
    let status = try #require(
      SubscriptionStatus.all(in: SubscriptionFacts(response), at: start.milliseconds).first)
    #expect(status.state == .active && status.isTrial == true && status.nextProductID == "monthly")
  }

  @Test(arguments: [false, true])
  func `the old style answers active, lapsed and active again`(writesNumbers: Bool) throws {
    let forge = VerifyReceiptForge(bundleID: Sample.bundleID, writesNumbers: writesNumbers)
    let first = month("1", at: start)
    let renewal = ForgedRenewal(of: first)
    func life(_ latest: StoreTransactionRecord?, at moment: Timestamp) throws -> (
      ReceiptStatus?, SubscriptionStatus?
    ) {
      let value = forge.oldStyle(sent: first, latest: latest, renewal: renewal, requestedAt: moment)
      let response = try VerifyReceiptResponse(json: value.data)
      #expect(response.bundleID == Sample.bundleID && response.unknownFields.isEmpty)
      let all = SubscriptionStatus.all(in: SubscriptionFacts(response), at: moment.milliseconds)
      return (response.status, all.first)
    }
    let paid = try life(nil, at: start)
    #expect(paid.0 == .ok && paid.1?.state == .active && paid.1?.entitledUntil == end.milliseconds)
    let lapsed = try life(nil, at: end)
    #expect(lapsed.0 == .lapsed && lapsed.1?.state == .lapsed(nil))
    let later = end.adding(milliseconds: Sample.day)
    let renewed = try life(month("2", original: "1", at: later), at: later)
    #expect(renewed.0 == .ok && renewed.1?.state == .active && renewed.1?.transactionID == "2")
  }

  @Test func `refunds, upgrades, grace and retry reach the status`() throws {
    let forge = VerifyReceiptForge(bundleID: Sample.bundleID)
    func status(_ latest: [StoreTransactionRecord], _ renewal: ForgedRenewal, at moment: Timestamp) throws
      -> SubscriptionStatus
    {
      let value = forge.unified(held: [], latest: latest, renewals: [renewal], requestedAt: moment)
      let facts = try SubscriptionFacts(VerifyReceiptResponse(json: value.data))
      return try #require(SubscriptionStatus.all(in: facts, at: moment.milliseconds).first)
    }
    var first = month("1", at: start)
    var renewal = ForgedRenewal(of: first)
    renewal.expirationIntent = 2
    renewal.isInBillingRetry = true
    renewal.gracePeriodExpiresAt = end.adding(milliseconds: Sample.day)
    #expect(try status([first], renewal, at: end).state == .gracePeriod)
    let later = end.adding(milliseconds: 2 * Sample.day)
    #expect(try status([first], renewal, at: later).state == .billingRetry)
    renewal.isInBillingRetry = false
    #expect(try status([first], renewal, at: later).state == .lapsed(.billingError))

    let middle = start.adding(milliseconds: Sample.day)
    first.isUpgraded = true
    let yearly = month("2", original: "1", product: "yearly", at: middle)
    let upgraded = try status([yearly, first], ForgedRenewal(of: yearly), at: middle)
    #expect(upgraded.productID == "yearly" && upgraded.latestChange?.wasAtOnce == true)

    first.isUpgraded = false
    first.revokedAt = middle
    #expect(try status([first], renewal, at: middle).state == .refunded)
  }

  @Test func `the decoder reads dates as Foundation's calendar writes them`() throws {
    let forge = VerifyReceiptForge(bundleID: Sample.bundleID)
    // Steps of 5 hours and 7 minutes through the years 2019 to 2025 include each change of the clocks in Los Angeles.
    for milliseconds in stride(
      from: 1_546_300_800_000, to: 1_767_225_600_000, by: LongTests.areOn ? 18_420_000 : 7 * 18_420_000)
      as StrideTo<Int64>
    {
      let record = Sample.record(purchasedAt: Timestamp(milliseconds: milliseconds))
      var members = try #require(forge.transaction(record, isLatest: true).object)
      members["purchase_date_ms"] = nil
      #expect(try ReceiptTransaction(.object(members)).purchaseDate == milliseconds)
      members["purchase_date"] = nil
      let read = try ReceiptTransaction(.object(members)).purchaseDate
      // The hour that comes twice is ambiguous: the first is meant.
      #expect(read == milliseconds || read == milliseconds - 3_600_000)
    }
  }

  @Test func `failures have a status and no receipt`() throws {
    let forge = VerifyReceiptForge(bundleID: Sample.bundleID)
    #expect(forge.failure(.sandboxReceipt).text == #"{"status":21007}"#)
    let response = try VerifyReceiptResponse(
      json: forge.failure(ReceiptStatus(rawValue: 21150), isRetryable: false).data)
    #expect(response.action == .refused && response.receipt == nil)
  }

  @Test(arguments: BrokenJSON.allCases)
  func `a broken answer is refused or read, and never traps`(how: BrokenJSON) throws {
    let forge = VerifyReceiptForge(bundleID: Sample.bundleID, writesNumbers: true)
    let first = month("1", at: start)
    let values = [
      forge.unified(
        held: [first], latest: [first], renewals: [ForgedRenewal(of: first)], requestedAt: start),
      forge.oldStyle(sent: first, requestedAt: start), forge.failure(.unavailable),
    ]
    for value in values {
      do throws(ReceiptDecodingError) {
        let response = try VerifyReceiptResponse(json: how.bytes(of: value))
        // Null counts as absent, so the answer states nothing. `{"status":21005}` has no string to replace.
        #expect(how == .nulls || (how == .stringsAreObjects && response.receipt == nil))
      } catch {
        #expect(how != .nulls || error.location.hasSuffix("_id"))
      }
    }
  }
}
