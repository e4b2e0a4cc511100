import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSync
import Testing

@testable import PurchaseSyncTesting

/// The store's answer to each kind of proof, and the backend's verdict.
struct ProofTests {
  private static let kinds: [ProofKind] = [.signedTransaction, .appReceipt, .transactionReceipt]

  private func judge(
    _ claim: Claim, _ proof: ProofDocument?, in store: StoreModel, _ backend: inout BackendFixture,
    as uploader: Uploader = .account("alice")
  ) -> Verdict? {
    let request = UploadRequest(device: backend.device, proof: proof, claims: [claim])
    let judgement = backend.model.judge(request, from: uploader, now: Sample.now) {
      store.verify($0, now: Sample.now)
    }
    return judgement.verdicts.first?.verdict
  }

  @Test(arguments: kinds)
  func `a proof of every kind grants its claim once`(kind: ProofKind) throws {
    var store = Sample.store()
    var backend = BackendFixture()
    let paid = try store.buy()
    let proof = try store.proof(kind, of: paid)
    let claim = Sample.claim(for: paid)
    #expect(judge(claim, proof, in: store, &backend) == .granted)
    #expect(judge(claim, proof, in: store, &backend) == .duplicate)
    for other in Self.kinds {
      #expect(judge(claim, try store.proof(other, of: paid), in: store, &backend) == .duplicate)
    }
    #expect(judge(claim, nil, in: store, &backend) == .duplicate)
    #expect(backend.model.doubledCredits == 0)
  }

  @Test(arguments: kinds)
  func `a foreign proof is forged, and an unreadable one malformed`(kind: ProofKind) throws {
    var store = Sample.store()
    let paid = try store.buy()
    var twin = StoreModel(products: Sample.products, forge: ReceiptForge(bundleID: Sample.bundleID, key: 1))
    let proof = try twin.proof(kind, of: try twin.buy(at: Sample.now.adding(milliseconds: 5_000)))
    #expect(store.verify(.proof(proof), now: Sample.now) == .forged)
    let genuine = try store.proof(kind, of: paid)
    #expect(store.verify(.proof(genuine), now: Sample.now) != .forged)
    for data in ["", "garbage", "AAAA", String(genuine.data.prefix(genuine.data.count / 2)), "MIIB"] {
      let spoilt = ProofDocument(kind: kind, data: data)
      #expect(store.verify(.proof(spoilt), now: Sample.now) == .malformed)
    }
    let unknown = ProofDocument(kind: ProofKind(rawValue: "paper"), data: genuine.data)
    #expect(store.verify(.proof(unknown), now: Sample.now) == .malformed)
  }

  @Test func `a genuine proof of another app with an id of ours is rejected`() throws {
    var store = Sample.store()
    var backend = BackendFixture()
    let paid = try store.buy()
    let foreign = ReceiptForge(bundleID: "com.example.other").signedTransaction(paid, signedAt: Sample.now)
    let proof = ProofDocument(kind: .signedTransaction, data: foreign)
    #expect(judge(Sample.claim(for: paid), proof, in: store, &backend) == .rejected)
    #expect(backend.model.credits.isEmpty)
  }

  @Test func `an old proof shows today's refund`() throws {
    var store = Sample.store()
    var backend = BackendFixture()
    let paid = try store.buy()
    let proofs = try Self.kinds.map { try store.proof($0, of: paid) }
    try store.refund(transactionID: paid.transactionID, now: Sample.now)
    for proof in proofs {
      #expect(judge(Sample.claim(for: paid), proof, in: store, &backend) == .refunded)
    }
    #expect(backend.model.credits.isEmpty)
  }

  @Test func `a genuine receipt that lacks the claimed transaction is unknownTransaction`() throws {
    var store = Sample.store()
    var backend = BackendFixture()
    store.faults.lackedPurchases = 1
    let lacking = try store.buy(delivery: .tokenForgotten)
    let receipt = try #require(store.listing(storeAccount: "a", now: Sample.now).receipt)
    let claim = Sample.claim(for: lacking)
    let proof = ProofDocument(kind: .appReceipt, data: Data(receipt).base64EncodedString())
    #expect(judge(claim, proof, in: store, &backend) == .unknownTransaction)
    let again = try store.proof(.appReceipt, of: lacking)
    #expect(judge(claim, again, in: store, &backend) == .granted)
    let other = try store.buy()
    let single = try store.proof(.transactionReceipt, of: lacking)
    #expect(judge(Sample.claim(for: other), single, in: store, &backend) == .unknownTransaction)
    #expect(judge(Sample.claim(for: other), again, in: store, &backend) == .unknownTransaction)
  }

  @Test func `the rest of a receipt is recorded without an owner`() throws {
    var store = Sample.store()
    var backend = BackendFixture()
    let records = try (0..<3).map { _ in try store.buy() }
    let proof = try store.proof(.appReceipt, of: records[0])
    #expect(judge(Sample.claim(for: records[1]), proof, in: store, &backend) == .granted)
    #expect(backend.model.credits.map(\.transaction.transactionID) == [records[1].transactionID])
    #expect(
      backend.model.sightings.map(\.transaction.transactionID)
        == [records[0].transactionID, records[2].transactionID])
  }

  @Test func `one receipt with two accounts' transactions grants to each account its own`() throws {
    var store = Sample.store()
    var backend = BackendFixture()
    let orders = [try backend.order("alice"), try backend.order("bob")]
    let records = try orders.map { try store.buy(token: $0.accountToken) }
    let proof = try store.proof(.appReceipt, of: records[0])
    for (record, order) in zip(records, orders) {
      let claim = Sample.claim(for: record, match: .bound, order: order.number)
      #expect(judge(claim, proof, in: store, &backend, as: .account(order.account)) == .granted)
    }
    #expect(backend.model.credits.map(\.owner) == [.account("alice"), .account("bob")])
  }

  @Test func `a receipt has no account token, a question by id and a signed transaction return it`() throws {
    var store = Sample.store()
    let token = UUID()
    let paid = try store.buy(token: token)
    func told(_ query: VerificationQuery) -> [String?]? {
      guard case .genuine(let transactions) = store.verify(query, now: Sample.now) else { return nil }
      return transactions.map { $0.appAccountToken }
    }
    let proofs = try Self.kinds.map { try store.proof($0, of: paid) }
    let known = token.uuidString.lowercased()
    #expect(proofs.map { told(.proof($0)) } == [[known], [nil], [nil]])
    #expect(told(.transaction(environment: "Production", id: paid.transactionID)) == [known])
    #expect(
      store.verify(.transaction(environment: "Sandbox", id: paid.transactionID), now: Sample.now) == .notFound
    )
  }
}
