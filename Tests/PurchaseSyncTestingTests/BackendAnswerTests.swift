import AppStoreDocuments
import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSync
import Testing

@testable import PurchaseSyncTesting

/// The effect of the store's answers on claims, in addition to the rules.
struct BackendAnswerTests {
  private func upload(
    _ answer: StoreAnswer, _ backend: inout BackendFixture, as uploader: Uploader = .account("alice"),
    at now: Timestamp = Sample.now
  ) throws -> ClaimVerdict {
    let request = UploadRequest(
      device: backend.device, proof: ProofDocument(kind: .appReceipt, data: "MIAA"),
      claims: [Sample.claim(for: Sample.record())])
    let judgement = backend.model.judge(request, from: uploader, now: now, answers: { _ in answer })
    return try #require(judgement.verdicts.first)
  }

  @Test func `a wrong shared secret leaves the claim pending, and the reply has the reason`() throws {
    var backend = BackendFixture()
    let verdict = try upload(StoreAnswer(.misconfigured, status: .wrongSecret), &backend)
    #expect(verdict.verdict == .pending && verdict.storeStatus == 21004)
    #expect(verdict.reason?.hasPrefix("configuration") == true && (verdict.retryAfter ?? 0) >= 60)
    #expect(backend.model.verdicts.map(\.storeStatus) == [21004])
  }

  @Test func `21002 is malformed only after several answers in a row, and a good answer resets the count`()
    throws
  {
    var backend = BackendFixture()
    let doubt = StoreAnswer(.doubtful, status: .malformed)
    var verdicts: [Verdict] = []
    for _ in 0..<5 { verdicts.append(try upload(doubt, &backend).verdict) }
    #expect(verdicts == [.pending, .pending, .pending, .rejected, .rejected])
    #expect(try upload(doubt, &backend, as: .account("bob")).verdict == .pending)
    _ = try upload(StoreAnswer(.unavailable, status: .unavailable), &backend)
    #expect(try upload(doubt, &backend).verdict == .pending)
    #expect(backend.model.credits.isEmpty)
  }

  @Test func `21010 is rejected, with the store's own number`() throws {
    var backend = BackendFixture()
    let verdict = try upload(StoreAnswer(.refused, status: .accountNotFound), &backend)
    #expect(verdict.verdict == .rejected && verdict.storeStatus == 21010 && verdict.reason != nil)
  }

  @Test func `a genuine receipt of another app grants nothing and is not stored`() throws {
    var backend = BackendFixture()
    let other = ReceiptForge(bundleID: "com.example.other")
    let facts = try SignedTransaction(jws: other.signedTransaction(Sample.record(), signedAt: Sample.now))
    let report = StoreReport([VerifiedTransaction(facts, askedAt: 0)])
    let verdict = try upload(StoreAnswer(.genuine(report), status: .ok), &backend)
    #expect(verdict.verdict == .rejected && verdict.reason?.contains("other bundle") == true)
    #expect(backend.model.purchases.isEmpty && backend.model.credits.isEmpty)
  }

  @Test func `an account token that only the store knew overrides a proposal`() throws {
    var backend = BackendFixture()
    let right = try backend.order("bob", key: "1")
    let wrong = try backend.order("alice", key: "2")
    let record = Sample.record(token: right.accountToken)
    let signed = try SignedTransaction(jws: Sample.forge.signedTransaction(record, signedAt: Sample.now))
    let known = StoreAnswer(.genuine(StoreReport([VerifiedTransaction(signed, askedAt: 0)])))
    _ = backend.model.learn(
      [Lesson(proof: nil, answer: known)], source: .notification("ONE_TIME_CHARGE"), now: Sample.now)
    #expect(backend.model.credits.isEmpty)
    var unpublished = record
    unpublished.accountToken = nil
    let claim = Sample.claim(for: record, match: .proposed, candidates: [wrong.number])
    let verdict = try backend.upload(claim, holding: [unpublished])
    // The claim has not named bob's order, so the verdict does not either.
    #expect(verdict.verdict == .otherOwner && verdict.orderNumber == nil && verdict.owner == .another)
    #expect(backend.model.credits.map(\.owner) == [.account("bob")])
  }

  @Test func `renewals of a granted period are granted, however the backend learns of them`()
    throws
  {
    var backend = BackendFixture()
    let month = 30 * Sample.day
    let records = (0..<3).map { index in
      let start = Sample.now.adding(milliseconds: Int64(index) * month)
      return Sample.record(
        "\(index + 1)", original: "1", product: "monthly", expiresAt: start.adding(milliseconds: month),
        purchasedAt: start)
    }
    let claim = Sample.claim(for: records[0])
    #expect(try backend.upload(claim, holding: records).verdict == .granted)
    #expect(backend.model.credits.map(\.cause) == [.granted, .renewal, .renewal])
    #expect(backend.model.credits.allSatisfy { $0.owner == .account("alice") })
    let late = Sample.claim(for: records[2])
    #expect(try backend.upload(late, holding: records).verdict == .duplicate)
    #expect(try backend.upload(late, holding: records, as: .account("bob")).verdict == .otherOwner)
    let end = Sample.now.adding(milliseconds: 3 * month)
    let held = backend.model.holdings(account: "alice", now: Sample.now)
    #expect(held.map(\.expiresAt) == [end] && held.map(\.quantity) == [1])
    #expect(backend.model.holdings(account: "alice", now: end).isEmpty)
  }

  @Test func `a subscription without an owner gets none from notifications`() throws {
    var backend = BackendFixture()
    let first = Sample.record("1", product: "monthly", expiresAt: Sample.now.adding(milliseconds: 5))
    let coins = Sample.record("9")
    _ = try backend.upload(Sample.claim(for: coins), holding: [coins, first])
    #expect(backend.model.credits.map(\.transaction.transactionID) == ["9"])
    #expect(backend.model.sightings.map(\.transaction.transactionID) == ["1"])
  }
}
