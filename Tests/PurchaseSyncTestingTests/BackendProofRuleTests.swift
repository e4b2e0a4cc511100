import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSync
import Testing

@testable import PurchaseSyncTesting

/// A claim without a proof goes by the store's record alone.
struct BackendProofRuleTests {
  private var backend = BackendFixture()
  private let proof = ProofDocument(kind: .signedTransaction, data: "unread")

  private mutating func judge(
    _ claim: Claim, _ record: StoreTransactionRecord, from uploader: Uploader, _ proof: ProofDocument? = nil
  ) throws -> ClaimVerdict {
    let signed = try SignedTransaction(jws: Sample.forge.signedTransaction(record, signedAt: Sample.now))
    let request = UploadRequest(device: backend.device, proof: proof, claims: [claim])
    let judged = backend.model.judge(request, from: uploader, now: Sample.now) { _ in .genuine([signed]) }
    return try #require(judged.verdicts.first)
  }

  @Test(arguments: [nil, ProofDocument(kind: .appReceipt, data: String(repeating: "A", count: 3_145_728))])
  mutating func `a stranger does not get a purchase without a token by its id`(proof: ProofDocument?) throws {
    let record = Sample.record()
    let own = try backend.order("mallory")
    let claims = [
      Sample.claim(for: record), Sample.claim(for: record, match: .bound, order: own.number),
      Sample.claim(for: record, match: .bound, order: "order-99"),
      Sample.claim(for: record, match: .proposed, candidates: [own.number]),
    ]
    for claim in claims {
      for uploader in [Uploader.account("mallory"), .device(backend.device)] {
        let told = try judge(claim, record, from: uploader, proof)
        #expect([.unknownTransaction, .rejected].contains(told.verdict) && told.reason != nil)
        if told.verdict == .unknownTransaction { #expect(told.reason == "a proof is needed") }
      }
    }
    #expect(backend.model.credits.isEmpty)
    #expect(backend.model.purchases.allSatisfy { $0.device == nil && $0.account == nil })
    #expect(backend.model.order(number: own.number)?.fulfilledBy == nil)
    #expect(try judge(claims[0], record, from: .account("alice"), self.proof).verdict == .granted)
    #expect(try judge(claims[0], record, from: .account("alice"), proof).verdict == .duplicate)
    #expect(try judge(claims[0], record, from: .account("mallory"), proof).verdict == .otherOwner)
  }

  @Test mutating func `the store's token names the owner without a proof`() throws {
    let order = try backend.order("alice")
    let record = Sample.record(token: order.accountToken)
    let stranger = try judge(Sample.claim(for: record), record, from: .account("mallory"))
    #expect(stranger.verdict == .otherOwner && stranger.orderNumber == nil)
    #expect(backend.model.credits.map(\.owner) == [.account("alice")])
    #expect(backend.model.order(number: order.number)?.fulfilledBy != nil)
    let hers = try judge(
      Sample.claim(for: record, match: .bound, order: order.number), record, from: .account("alice"))
    #expect(hers.verdict == .duplicate && hers.owner == .yours)
  }

  @Test mutating func `a token that names no order of ours names no owner either`() throws {
    let record = Sample.record(token: UUID())
    let claim = Sample.claim(for: record, match: .bound, order: "order-99")
    #expect(try judge(claim, record, from: .account("mallory")).verdict == .unknownTransaction)
    #expect(try judge(claim, record, from: .account("alice"), proof).verdict == .granted)
  }

  @Test mutating func `a later period without a token goes to the owner of the subscription`() throws {
    let end = Sample.now.adding(milliseconds: Sample.day)
    let first = Sample.record("1", product: "monthly", expiresAt: end)
    _ = try judge(Sample.claim(for: first), first, from: .account("alice"), proof)
    let second = Sample.record(
      "2", original: "1", product: "monthly", expiresAt: end.adding(milliseconds: Sample.day),
      purchasedAt: Sample.now.adding(milliseconds: 1))
    #expect(try judge(Sample.claim(for: second), second, from: .account("mallory")).verdict == .otherOwner)
    #expect(backend.model.credits.map(\.owner) == [.account("alice"), .account("alice")])
    let strange = Sample.record("9", original: "8", product: "monthly", expiresAt: end)
    let told = try judge(Sample.claim(for: strange), strange, from: .account("mallory"))
    #expect(told.verdict == .unknownTransaction)
  }

  @Test(arguments: [true, false])
  mutating func `a stranger does not learn by an id that a purchase is over`(isRefunded: Bool) throws {
    func record(_ id: String, _ token: UUID? = nil) -> StoreTransactionRecord {
      Sample.record(
        id, product: "monthly", token: token,
        expiresAt: Sample.now.adding(milliseconds: isRefunded ? Sample.day : 0),
        revokedAt: isRefunded ? Sample.now : nil)
    }
    let (word, strange) = (isRefunded ? Verdict.refunded : .lapsed, record("1"))
    for uploader in [Uploader.account("mallory"), .device(backend.device)] {
      let told = try judge(Sample.claim(for: strange), strange, from: uploader)
      #expect(told.verdict == .unknownTransaction && told.owner == nil)
    }
    #expect(try judge(Sample.claim(for: strange), strange, from: .account("alice"), proof).verdict == word)
    let own = record("2", try backend.order("alice", product: "monthly").accountToken)
    let told = try judge(Sample.claim(for: own), own, from: .account("alice"))
    #expect(told.verdict == word && told.owner == .yours)
    #expect(try judge(Sample.claim(for: own), own, from: .account("mallory")).owner == .another)
  }

  @Test func `a receipt hides the token of a purchase, which the store is asked for by id`() throws {
    let receipt = ProofDocument(kind: .appReceipt, data: "unread")
    for answer in [StoreVerification.unavailable, .unsigned, .notFound, .genuine([])] {
      var backend = BackendFixture()
      let order = try backend.order("alice")
      let record = Sample.record(token: order.accountToken)
      var bare = try SignedTransaction(jws: Sample.forge.signedTransaction(record, signedAt: Sample.now))
      let signed = bare
      bare.appAccountToken = nil
      let request = UploadRequest(
        device: backend.device, proof: receipt, claims: [Sample.claim(for: record)])
      func told(_ byID: StoreVerification) throws -> ClaimVerdict {
        let judged = backend.model.judge(request, from: .account("bob"), now: Sample.now) {
          $0 == .proof(receipt) ? .genuine([bare]) : byID
        }
        return try #require(judged.verdicts.first)
      }
      let word = answer == .unavailable || answer == .unsigned ? Verdict.pending : .unknownTransaction
      #expect(try told(answer).verdict == word)
      #expect(backend.model.credits.isEmpty)
      #expect(try told(.genuine([signed])).verdict == .otherOwner)
      #expect(backend.model.credits.map(\.orderNumber) == [order.number])
    }
  }
}
