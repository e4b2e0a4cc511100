import AppStoreDocuments
import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSync
import TestSupport
import Testing

@testable import PurchaseSyncTesting

/// The job that polls every 12 hours (R3.9).
struct BackendJobTests {
  private let hour: Int64 = 3_600_000

  private func later(_ milliseconds: Int64) -> Timestamp { Sample.now.adding(milliseconds: milliseconds) }

  /// A subscription whose only known period ends at `end`.
  private func told(
    end: Int64, isTrial: Bool = false, willAutoRenew: Bool? = true, revokedAt: Timestamp? = nil,
    environment: StoreEnvironment = .production
  ) throws -> BackendModel {
    var period = Sample.record(
      "1", product: "monthly", expiresAt: later(end), environment: environment,
      purchasedAt: later(end - 30 * Sample.day), revokedAt: revokedAt)
    period.isTrial = isTrial
    let renewals = willAutoRenew.map { [ForgedRenewal(of: period, willAutoRenew: $0)] } ?? []
    let forge = VerifyReceiptForge(bundleID: Sample.bundleID, environment: environment)
    let response = try VerifyReceiptResponse(
      json: forge.unified(held: [], latest: [period], renewals: renewals, requestedAt: Sample.now).data)
    var model = BackendModel(bundleID: Sample.bundleID, seed: 1)
    let report = StoreReport(response, host: environment, askedAt: 0)
    _ = model.learn(
      [Lesson(proof: nil, answer: StoreAnswer(.genuine(report)))], source: .job, now: Sample.now)
    return model
  }

  @Test(
    arguments: [
      (24 * 3_600_000, false, true, DueSubscription.Reason.ending), (24 * 3_600_000 + 1, false, true, nil),
      (1, false, false, .ending), (0, false, true, .ending), (0, false, nil, .ending), (0, false, false, nil),
      (-60 * 86_400_000 + 1, false, true, .ending), (-60 * 86_400_000, false, true, nil),
      (0, true, true, .endedTrial), (0, true, nil, .endedTrial), (0, true, false, nil), (1, true, true, nil),
    ] as [(Int64, Bool, Bool?, DueSubscription.Reason?)])
  func `trials that ended with renewal on, and charged periods near their end, are due`(
    end: Int64, isTrial: Bool, willAutoRenew: Bool?, reason: DueSubscription.Reason?
  ) throws {
    let model = try told(end: end, isTrial: isTrial, willAutoRenew: willAutoRenew)
    #expect(model.dueSubscriptions(at: Sample.now).map(\.reason) == (reason.map { [$0] } ?? []))
  }

  @Test func `the job asks neither about refunded subscriptions nor about those of Xcode`() throws {
    #expect(try told(end: 5, revokedAt: later(-5)).dueSubscriptions(at: Sample.now).isEmpty)
    #expect(try told(end: 5, environment: .xcode).dueSubscriptions(at: Sample.now).isEmpty)
  }

  @Test func `the job runs every 12 hours, at once after a first start, and remembers it across a restart`()
    throws
  {
    let directory = try TemporaryDirectory()
    let path = directory.path("backend.sqlite")
    let store = try BackendStore(path: path, bundleID: Sample.bundleID, seed: 1)
    #expect(try store.model().isJobDue(at: Sample.now))
    try store.change { model in
      model.finishJob([], now: Sample.now)
    }
    let again = try BackendStore(path: path, bundleID: Sample.bundleID, seed: 1).model()
    #expect(!again.isJobDue(at: later(12 * hour - 1)) && again.isJobDue(at: later(12 * hour)))
  }

  @Test func `the job finds a renewal without an upload, by the newest receipt`() throws {
    let directory = try TemporaryDirectory()
    let backend = try BackendStore(
      path: directory.path("backend.sqlite"), bundleID: Sample.bundleID, seed: 1)
    var store = Sample.store()
    let bought = try store.buy("monthly")
    let receipt = try store.proof(.appReceipt, of: bought)
    let request = UploadRequest(device: UUID(), proof: receipt, claims: [Sample.claim(for: bought)])
    try backend.change { model in
      let judged = model.judge(
        request, from: .account("alice"), now: Sample.now,
        answers: { store.answer(to: $0, now: Sample.now) })
      #expect(judged.verdicts.map(\.verdict) == [.granted])
      return judged.writes
    }
    #expect(try backend.jobQuestions(at: Sample.now).isEmpty)

    let end = later(30 * Sample.day)
    store.advance(to: end)
    let now = end.adding(milliseconds: 1)
    let questions = try backend.jobQuestions(at: now)
    #expect(questions.map(\.proof) == [receipt])
    func run(_ answer: @escaping (VerificationQuery) -> StoreAnswer) throws -> JobRun? {
      let answers = try backend.jobQuestions(at: now).map { (question: $0, answer: answer($0.query)) }
      return try backend.perform { model in
        let writes = model.finishJob(answers, now: now)
        return (model.lastJob, writes)
      }
    }
    // The store does not answer, so the subscription stays due.
    #expect(try run { _ in StoreAnswer(.unavailable) } == JobRun(at: now, due: 1, unanswered: 1))
    #expect(try backend.model().holdings(account: "alice", now: now).isEmpty)
    #expect(try run { store.answer(to: $0, now: now) } == JobRun(at: now, due: 1, unanswered: 0))
    let model = try backend.model()
    #expect(model.credits.count > 1 && model.credits.map(\.cause).first == .granted)
    #expect(model.credits.dropFirst().allSatisfy { $0.cause == .renewal })
    #expect(model.holdings(account: "alice", now: now).count == 1)
    #expect(try backend.jobQuestions(at: now).isEmpty)
  }

  @Test func `where the newest proof is a signed transaction, the subscription is asked for by its id`()
    throws
  {
    let due = DueSubscription(
      chain: ChainKey(environment: .sandbox, originalTransactionID: "1"), reason: .ending)
    let query = VerificationQuery.subscription(environment: "Sandbox", originalTransactionID: "1")
    #expect(JobQuestion(due, newest: ProofDocument(kind: .signedTransaction, data: "a.b.c")).query == query)
    #expect(JobQuestion(due, newest: nil).query == query)
  }
}
