import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSync
import Testing

@testable import PurchaseSyncTesting

/// Refunds, subscriptions, environments, devices, and further transactions of a proof.
struct BackendLifecycleTests {
  @Test func `a refunded transaction is not granted, a granted one is taken back`() throws {
    var backend = BackendFixture()
    let paid = Sample.record("1")
    let refunded = Sample.record("1", revokedAt: Sample.now)
    let claim = Sample.claim(for: paid)
    #expect(try backend.upload(claim, holding: [paid]).verdict == .granted)
    #expect(backend.model.entitlements(account: "alice", now: Sample.now) == ["coins": 1])
    #expect(try backend.upload(claim, holding: [refunded]).verdict == .refunded)
    #expect(try backend.upload(claim, holding: [refunded]).verdict == .refunded)
    #expect(backend.model.entitlements(account: "alice", now: Sample.now).isEmpty)
    #expect(backend.model.reversals.count == 1)
    #expect(backend.model.credits.count == 1)

    let never = Sample.record("2", revokedAt: Sample.now)
    #expect(try backend.upload(Sample.claim(for: never), holding: [never]).verdict == .refunded)
    #expect(backend.model.credits.count == 1)
  }

  @Test func `a refund known from a notification wins over an old proof`() throws {
    var backend = BackendFixture()
    let record = Sample.record()
    #expect(backend.model.reverse(TransactionKey(record), at: Sample.now).count == 1)
    #expect(backend.model.reverse(TransactionKey(record), at: Sample.now).isEmpty)
    #expect(try backend.upload(Sample.claim(for: record), holding: [record]).verdict == .refunded)
    #expect(backend.model.credits.isEmpty)
  }

  @Test func `a claim for an ended period is lapsed, and a granted period ends by itself`() throws {
    var backend = BackendFixture()
    let end = Sample.now.adding(milliseconds: 10)
    let record = Sample.record(product: "monthly", expiresAt: end)
    let claim = Sample.claim(for: record)
    #expect(try backend.upload(claim, holding: [record], at: end).verdict == .lapsed)
    #expect(try backend.upload(claim, holding: [record]).verdict == .granted)
    #expect(try backend.upload(claim, holding: [record], at: end).verdict == .duplicate)
    #expect(backend.model.entitlements(account: "alice", now: Sample.now) == ["monthly": 1])
    #expect(backend.model.entitlements(account: "alice", now: end).isEmpty)
  }

  @Test func `a renewal goes to the owner of its original and fulfils no order`() throws {
    var backend = BackendFixture()
    let order = try backend.order("alice", product: "monthly")
    let end = Sample.now.adding(milliseconds: 10)
    let first = Sample.record("1", product: "monthly", token: order.accountToken, expiresAt: end)
    #expect(try backend.upload(Sample.claim(for: first), holding: [first]).orderNumber == order.number)
    let renewal = Sample.record(
      "2", original: "1", product: "monthly", token: order.accountToken,
      expiresAt: end.adding(milliseconds: 10))
    let verdict = try backend.upload(Sample.claim(for: renewal), holding: [renewal], as: .account("bob"))
    #expect(verdict.verdict == .otherOwner)
    #expect(verdict.orderNumber == nil)
    #expect(backend.model.credits.map(\.owner) == [.account("alice"), .account("alice")])
    #expect(backend.model.doubledCredits == 0)
  }

  @Test func `a restored purchase counts as its original`() throws {
    var backend = BackendFixture()
    let first = Sample.record("1", product: "pro")
    let restored = Sample.record("2", original: "1", product: "pro")
    #expect(try backend.upload(Sample.claim(for: restored), holding: [restored]).verdict == .granted)
    #expect(try backend.upload(Sample.claim(for: first), holding: [first]).verdict == .duplicate)
    #expect(backend.model.entitlements(account: "alice", now: Sample.now) == ["pro": 1])
  }

  @Test func `the grant has the verified environment, the verdict the claim's`() throws {
    var backend = BackendFixture()
    let record = Sample.record(environment: .sandbox)
    var claim = Sample.claim(for: record)
    claim.environment = "Production"
    #expect(try backend.upload(claim, holding: [record]).environment == "Production")
    #expect(backend.model.credits.map(\.transaction.environment) == [.sandbox])
    #expect(backend.model.credits.map(\.isSandbox) == [true])
    #expect(backend.model.verdicts.map(\.environment) == ["Sandbox"])
    let real = Sample.record()
    #expect(try backend.upload(Sample.claim(for: real), holding: [real]).verdict == .granted)
  }

  @Test func `dates distinguish ids that restart with each Xcode run`() throws {
    var backend = BackendFixture()
    for offset in [Int64(0), 1] {
      let record = Sample.record(
        "0", environment: .xcode, purchasedAt: Sample.now.adding(milliseconds: offset))
      #expect(try backend.upload(Sample.claim(for: record), holding: [record]).verdict == .granted)
    }
    #expect(backend.model.doubledCredits == 0)
  }

  @Test func `an unclaimed transaction is recorded once, without an owner`() throws {
    var backend = BackendFixture()
    let records = ["1", "2", "3"].map { Sample.record($0) }
    let claim = Sample.claim(for: records[0])
    _ = try backend.upload(claim, holding: records)
    _ = try backend.upload(claim, holding: records)
    #expect(backend.model.credits.map(\.transaction.transactionID) == ["1"])
    #expect(backend.model.sightings.map(\.transaction.transactionID) == ["2", "3"])
    let late = Sample.claim(for: records[1])
    #expect(try backend.upload(late, holding: records, as: .account("bob")).verdict == .granted)
  }

  @Test func `two claims for one transaction in one upload grant once`() throws {
    var backend = BackendFixture()
    let record = Sample.record()
    let facts = try SignedTransaction(jws: Sample.forge.signedTransaction(record, signedAt: Sample.now))
    let claim = Sample.claim(for: record)
    let proof = ProofDocument(kind: .signedTransaction, data: "unread")
    let request = UploadRequest(device: UUID(), proof: proof, claims: [claim, claim])
    var asked: [VerificationQuery] = []
    let judgement = backend.model.judge(request, from: .account("alice"), now: Sample.now) {
      asked.append($0)
      return .genuine([facts])
    }
    #expect(judgement.verdicts.map(\.verdict) == [.granted, .duplicate])
    #expect(asked == [.proof(proof)])
  }

  @Test func `the first account that adopts a device gets its grants, later grants do not move`() throws {
    var backend = BackendFixture()
    let device = UUID()
    let uploader = Uploader.device(device)
    let records = ["1", "2"].map { Sample.record($0) }
    #expect(backend.model.adoptDevice(device, for: "alice", now: Sample.now).count == 1)
    #expect(backend.model.adoptDevice(device, for: "alice", now: Sample.now).isEmpty)
    _ = try backend.upload(Sample.claim(for: records[0]), holding: records, as: uploader)
    #expect(backend.model.adoptDevice(device, for: "alice", now: Sample.now).count == 1)
    #expect(backend.model.adoptDevice(device, for: "bob", now: Sample.now).isEmpty)
    _ = try backend.upload(Sample.claim(for: records[1]), holding: records, as: uploader)
    #expect(backend.model.entitlements(account: "alice", now: Sample.now) == ["coins": 1])
    #expect(
      try backend.upload(Sample.claim(for: records[0]), holding: records, as: uploader).owner == .another)
    #expect(try backend.upload(Sample.claim(for: records[0]), holding: records).verdict == .duplicate)
    #expect(backend.model.adoptDevice(device, for: "bob", now: Sample.now).count == 1)
    #expect(backend.model.entitlements(account: "bob", now: Sample.now) == ["coins": 1])
  }

  @Test func `the ledger shows a doubled transaction and a doubled order`() throws {
    var backend = BackendFixture()
    let record = Sample.record()
    let order = try backend.order("alice")
    let claim = Sample.claim(for: record, match: .bound, order: order.number)
    _ = try backend.upload(claim, holding: [record])
    var credit = try #require(backend.model.credits.first)
    backend.model.apply(.credit(credit))
    #expect(backend.model.doubledCredits == 1)
    #expect(backend.model.entitlements(account: "alice", now: Sample.now) == ["coins": 2])
    credit.transaction.transactionID = "other"
    backend.model.apply(.credit(credit))
    #expect(backend.model.doubledCredits == 2)
  }
}
