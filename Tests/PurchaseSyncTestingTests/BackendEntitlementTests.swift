import AppStoreDocuments
import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSync
import Testing

@testable import PurchaseSyncTesting

/// The entitlements of an account at a moment.
struct BackendEntitlementTests {
  private let month: Int64 = 30 * Sample.day

  private func period(
    _ id: String, product: String = "monthly", from start: Int64 = 0, revokedAt: Timestamp? = nil,
    isUpgraded: Bool = false
  ) -> StoreTransactionRecord {
    let began = Sample.now.adding(milliseconds: start)
    var record = Sample.record(
      id, original: "1", product: product, expiresAt: began.adding(milliseconds: month), purchasedAt: began,
      revokedAt: revokedAt)
    record.isUpgraded = isUpgraded
    return record
  }

  private func later(_ milliseconds: Int64) -> Timestamp { Sample.now.adding(milliseconds: milliseconds) }

  /// The store sends transactions at a moment.
  private func tell(
    _ backend: inout BackendFixture, _ records: [StoreTransactionRecord], renewals: [ForgedRenewal] = [],
    at now: Timestamp
  ) throws {
    let forge = VerifyReceiptForge(bundleID: Sample.bundleID)
    let response = try VerifyReceiptResponse(
      json: forge.unified(
        held: [], latest: records, renewals: renewals, requestedAt: now
      ).data)
    let report = StoreReport(response, host: .production, askedAt: now.milliseconds)
    _ = backend.model.learn(
      [Lesson(proof: nil, answer: StoreAnswer(.genuine(report)))], source: .job, now: now)
  }

  @Test func `a refund in the middle of a period ends it then, and not the periods around it`() throws {
    var backend = BackendFixture()
    let periods = [period("1"), period("2", from: month), period("3", from: 2 * month)]
    _ = try backend.upload(Sample.claim(for: periods[0]), holding: periods)
    let refunded = period("2", from: month, revokedAt: later(month + 5))
    try tell(&backend, [periods[0], refunded, periods[2]], at: later(month + 6))
    func has(_ moment: Int64) -> Bool {
      !backend.model.holdings(account: "alice", now: later(moment)).isEmpty
    }
    #expect(has(0) && has(month) && has(month + 4))
    #expect(has(2 * month) && !has(3 * month))
    let row = try #require(backend.model.purchase(TransactionKey(refunded)))
    #expect(row.feeStatus == .refunded && row.facts.endsAt == later(month + 5).milliseconds)
    #expect(row.facts.expiresDate == later(2 * month).milliseconds)
    #expect(backend.model.reversals.map(\.transaction.transactionID) == ["2"])
  }

  @Test func `a refund that is undone gives the purchase back`() throws {
    var backend = BackendFixture()
    let record = Sample.record()
    _ = try backend.upload(Sample.claim(for: record), holding: [record])
    func signed(_ revokedAt: Timestamp?, at now: Timestamp) throws -> Lesson {
      var told = record
      told.revokedAt = revokedAt
      let signed = try SignedTransaction(jws: Sample.forge.signedTransaction(told, signedAt: now))
      let report = StoreReport([VerifiedTransaction(signed, askedAt: 0)])
      return Lesson(proof: nil, answer: StoreAnswer(.genuine(report)))
    }
    let refund = try signed(later(3), at: later(4))
    let undone = try signed(nil, at: later(9))
    _ = backend.model.learn([refund], source: .notification("REFUND"), now: later(4))
    #expect(backend.model.entitlements(account: "alice", now: later(5)).isEmpty)
    _ = backend.model.learn([undone], source: .notification("REFUND_REVERSED"), now: later(9))
    #expect(backend.model.entitlements(account: "alice", now: later(9)) == ["coins": 1])
    #expect(backend.model.reversals.map(\.undoneAt) == [later(9)])
    // The refund's notification comes once more, too late.
    _ = backend.model.learn([refund], source: .notification("REFUND"), now: later(10))
    #expect(backend.model.entitlements(account: "alice", now: later(10)) == ["coins": 1])
  }

  @Test func `an upgrade replaces the period at once`() throws {
    var backend = BackendFixture()
    let first = period("1")
    _ = try backend.upload(Sample.claim(for: first), holding: [first])
    let upgraded = period("1", isUpgraded: true)
    let better = period("2", product: "yearly", from: 10)
    try tell(&backend, [upgraded, better], at: later(20))
    let held = backend.model.holdings(account: "alice", now: later(20))
    #expect(held.map(\.productID) == ["yearly"])
    #expect(held.map(\.expiresAt) == [later(10 + month)])
  }

  @Test func `access goes on in the grace period of a failed charge, and a claim in it is granted`() throws {
    var backend = BackendFixture()
    let first = period("1")
    var renewal = ForgedRenewal(of: first)
    renewal.isInBillingRetry = true
    renewal.expirationIntent = 2
    renewal.gracePeriodExpiresAt = later(month + 16)
    try tell(&backend, [first], renewals: [renewal], at: later(month + 1))
    let claim = Sample.claim(for: first)
    #expect(try backend.upload(claim, holding: [first], at: later(month + 2)).verdict == .granted)
    #expect(backend.model.holdings(account: "alice", now: later(month + 15)).count == 1)
    #expect(backend.model.holdings(account: "alice", now: later(month + 16)).isEmpty)
    #expect(backend.model.purchases.map(\.feeStatus) == [.chargeFailed])
    #expect(backend.model.purchases.map(\.willAutoRenew) == [true])
  }

  @Test func `purchases free of charge are marked and counted separately`() throws {
    var backend = BackendFixture()
    for environment in [StoreEnvironment.production, .sandbox, .sandbox] {
      let record = Sample.record(
        "\(backend.model.credits.count)", quantity: 2, environment: environment)
      _ = try backend.upload(Sample.claim(for: record), holding: [record])
    }
    let held = backend.model.holdings(account: "alice", now: Sample.now)
    #expect(held.map(\.sandbox) == [false, true])
    #expect(held.map(\.quantity) == [2, 4])
    let json = try String(decoding: JSONEncoder().encode(held[1]), as: UTF8.self)
    #expect(json.contains(#""sandbox":true"#) && json.contains(#""environment":"Sandbox""#))
  }

  @Test func `trial, charge, refund and failed charge have different payment statuses`() throws {
    var backend = BackendFixture()
    var trial = period("1")
    trial.isTrial = true
    let forge = VerifyReceiptForge(bundleID: Sample.bundleID)
    var failing = ForgedRenewal(of: trial)
    failing.isInBillingRetry = true
    let charged = period("2", from: month)
    let response = try VerifyReceiptResponse(
      json: forge.unified(
        held: [],
        latest: [
          trial, charged,
          Sample.record("8", revokedAt: Sample.now), Sample.record("9"),
        ], renewals: [failing], requestedAt: later(2 * month)
      ).data)
    let report = StoreReport(response, host: .production, askedAt: 0)
    _ = backend.model.learn(
      [Lesson(proof: nil, answer: StoreAnswer(.genuine(report)))], source: .job, now: later(2 * month))
    #expect(backend.model.purchases.map(\.feeStatus) == [.trial, .chargeFailed, .refunded, .charged])
    #expect(backend.model.purchases.map(\.willAutoRenew) == [nil, true, nil, nil])
    #expect(backend.model.purchases.map(\.isSubscription) == [true, true, false, false])
    #expect(backend.model.purchases.map(\.isFirst) == [true, false, true, true])
  }
}
