import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSync
import Testing

@testable import PurchaseSyncTesting

/// Whose purchase it is, by the reference backend, and what each device learns.
@Suite struct BackendOwnerTests {
  private static let end = Sample.now.adding(milliseconds: 30 * Sample.day)
  private static let month = "monthly"

  private func period(_ id: String, _ token: UUID?, at days: Int64) -> StoreTransactionRecord {
    let begin = Sample.now.adding(milliseconds: days * Sample.day)
    return Sample.record(
      id, original: id == "1" ? nil : "1", product: Self.month, token: token,
      expiresAt: begin.adding(milliseconds: 30 * Sample.day), purchasedAt: begin)
  }

  @Test func `a subscription that bob buys again is his, also if a notification tells of it first`() throws {
    for isNotified in [false, true] {
      var backend = BackendFixture()
      let hers = try backend.order("alice", product: Self.month, key: "1")
      let his = try backend.order("bob", product: Self.month, key: "2")
      let first = period("1", hers.accountToken, at: 0)
      _ = try backend.upload(Sample.claim(for: first), holding: [first])
      let again = period("2", his.accountToken, at: 45)
      let now = again.purchasedAt
      if isNotified {
        let signed = try SignedTransaction(jws: Sample.forge.signedTransaction(again, signedAt: now))
        let told = VerifiedTransaction(signed, askedAt: now.milliseconds)
        _ = backend.model.learn(
          [Lesson(proof: nil, answer: StoreAnswer(.genuine(StoreReport([told]))))],
          source: .notification("SUBSCRIBED"), now: now)
      }
      let verdict = try backend.upload(
        Sample.claim(for: again, match: .bound, order: his.number), holding: [again], as: .account("bob"),
        at: now)
      #expect(verdict.verdict == (isNotified ? .duplicate : .granted) && verdict.owner == .yours)
      #expect(verdict.orderNumber == his.number)
      #expect(backend.model.credits.map(\.owner) == [.account("alice"), .account("bob")])
      #expect(backend.model.orders.map(\.state) == [.delivered, .delivered])
      // Later periods without a token follow the period before.
      let later = period("3", nil, at: 75)
      _ = try backend.upload(
        Sample.claim(for: later), holding: [later], as: .account("alice"), at: later.purchasedAt)
      #expect(backend.model.credits.map(\.owner).last == .account("bob"))
      #expect(backend.model.doubledCredits == 0)
    }
  }

  @Test func `each device is told whose purchase it is, and a stranger neither name nor order`() throws {
    var backend = BackendFixture()
    let order = try backend.order("alice")
    let record = Sample.record(token: order.accountToken)
    let signed = try SignedTransaction(jws: Sample.forge.signedTransaction(record, signedAt: Sample.now))
    func told(_ uploader: Uploader, _ signedIn: String?) throws -> ClaimVerdict {
      let request = UploadRequest(
        device: backend.device, proof: ProofDocument(kind: .signedTransaction, data: "unread"),
        claims: [Sample.claim(for: record)])
      let judged = backend.model.judge(request, from: uploader, signedIn: signedIn, now: Sample.now) { _ in
        .genuine([signed])
      }
      return try #require(judged.verdicts.first)
    }
    let pad = Uploader.device(backend.device)
    let hers = try told(pad, "alice")
    #expect(hers.verdict == .granted && hers.owner == .yours && hers.orderNumber == order.number)
    for (uploader, signedIn): (Uploader, String?) in [
      (pad, "bob"), (pad, nil), (.account("bob"), nil), (.account("bob"), "alice"),
    ] {
      let strangers = try told(uploader, signedIn)
      #expect(strangers.verdict == .otherOwner && strangers.owner == .another)
      #expect(strangers.orderNumber == nil && strangers.reason == nil)
    }
    #expect(try told(.account("alice"), nil).owner == .yours)
    #expect(backend.model.credits.map(\.owner) == [.account("alice")])
  }

  /// The device uploads what it has paid, while alice is signed in.
  private func uploaded(
    _ record: StoreTransactionRecord, to backend: inout BackendFixture
  ) throws -> BackendModel.Judgement {
    let signed = try SignedTransaction(jws: Sample.forge.signedTransaction(record, signedAt: Sample.now))
    let request = UploadRequest(
      device: backend.device, proof: ProofDocument(kind: .signedTransaction, data: "unread"),
      claims: [Sample.claim(for: record)])
    return backend.model.judge(
      request, from: .device(backend.device), signedIn: "alice", now: Sample.now
    ) { _ in .genuine([signed]) }
  }

  @Test func `an account is credited with nothing for being signed in`() throws {
    var backend = BackendFixture()
    let record = Sample.record()
    let judged = try uploaded(record, to: &backend)
    #expect(judged.verdicts.map(\.owner) == [.device] && judged.verdicts.map(\.verdict) == [.granted])
    #expect(backend.model.credits.map(\.owner) == [.device(backend.device)])
  }

  @Test func `the first secret of a device is bound to its name`() throws {
    var backend = BackendFixture()
    let device = UUID()
    #expect(try backend.model.admit(device, secret: "one").count == 1)
    #expect(try backend.model.admit(device, secret: "one").isEmpty)
    #expect(throws: BackendModelError.deviceSecret) { try backend.model.admit(device, secret: "two") }
    #expect(try backend.model.admit(UUID(), secret: "two").count == 1)
  }

  @Test func `a refund is told as the account's if the device paid before its adoption`() throws {
    for (isLater, owner) in [(false, PurchaseOwner.yours), (true, .device)] {
      var backend = BackendFixture()
      _ = backend.model.adoptDevice(backend.device, for: "alice", now: Sample.now)
      let record = Sample.record(
        purchasedAt: Sample.now.adding(milliseconds: isLater ? 0 : -1), revokedAt: Sample.now)
      let judged = try uploaded(record, to: &backend)
      #expect(judged.verdicts.map(\.verdict) == [.refunded] && judged.verdicts.map(\.owner) == [owner])
    }
  }
}
