import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSync
import Testing

@testable import PurchaseSyncTesting

/// The rules for one claim, one by one.
struct BackendRuleTests {
  @Test(arguments: [
    (StoreVerification.forged, Verdict.rejected), (.malformed, .rejected), (.unavailable, .pending),
    (.notFound, .unknownTransaction), (.genuine([]), .unknownTransaction),
  ])
  func `an unconfirmed transaction is not granted`(answer: StoreVerification, verdict: Verdict) throws {
    var backend = BackendFixture()
    let given = try backend.upload(Sample.claim(for: Sample.record()), answer: answer)
    #expect(given.verdict == verdict)
    #expect((given.reason != nil) == (verdict == .rejected))
    #expect((given.retryAfter != nil) == (verdict == .pending))
    #expect(backend.model.credits.isEmpty)
    #expect(backend.model.verdicts.map(\.verdict) == [verdict])
  }

  @Test(arguments: [Uploader.account("alice"), .device(UUID())])
  func `a transaction without an order is granted to its uploader`(uploader: Uploader) throws {
    var backend = BackendFixture()
    let record = Sample.record(quantity: 3)
    let verdict = try backend.upload(Sample.claim(for: record), holding: [record], as: uploader)
    #expect(verdict.verdict == .granted)
    #expect(backend.model.credits.map(\.owner) == [uploader])
    #expect(backend.model.credits.map(\.quantity) == [3])
    #expect(
      try backend.upload(Sample.claim(for: record), holding: [record], as: uploader).verdict == .duplicate)
    #expect(backend.model.credits.count == 1)
  }

  @Test func `a repeated bound claim fulfils its order once`() throws {
    var backend = BackendFixture()
    let order = try backend.order("alice")
    let record = Sample.record()
    let claim = Sample.claim(for: record, match: .bound, order: order.number)
    let verdicts = try (0..<5).map { _ in try backend.upload(claim, holding: [record]) }
    #expect(verdicts.map(\.verdict) == [.granted] + Array(repeating: .duplicate, count: 4))
    #expect(verdicts.allSatisfy { $0.orderNumber == order.number })
    #expect(backend.model.credits.count == 1)
    #expect(backend.model.order(number: order.number)?.state == .delivered)
    #expect(backend.model.order(number: order.number)?.fulfilledBy == TransactionKey(record))
  }

  @Test(arguments: [Uploader.account("bob"), .device(UUID())])
  func `the owner of the order gets the grant, and the uploader the verdict otherOwner`(uploader: Uploader)
    throws
  {
    var backend = BackendFixture()
    let order = try backend.order("alice")
    let record = Sample.record()
    let claim = Sample.claim(for: record, match: .bound, order: order.number)
    for _ in 0..<2 {
      #expect(try backend.upload(claim, holding: [record], as: uploader).verdict == .otherOwner)
    }
    #expect(backend.model.credits.map(\.owner) == [.account("alice")])
    #expect(backend.model.credits.map(\.cause) == [.otherOwner])
    #expect(try backend.upload(claim, holding: [record]).verdict == .duplicate)
  }

  @Test func `the account token identifies the order, also for a claim without one`() throws {
    var backend = BackendFixture()
    _ = try backend.order("alice", key: "1")
    let order = try backend.order("alice", key: "2")
    let record = Sample.record(token: order.accountToken)
    let verdict = try backend.upload(Sample.claim(for: record), holding: [record], as: .account("alice"))
    #expect(verdict.verdict == .granted)
    #expect(verdict.orderNumber == order.number)
  }

  @Test(arguments: [Claim.Match.bound, .proposed])
  func `the account token counts against the order of a claim`(match: Claim.Match) throws {
    var backend = BackendFixture()
    let named = try backend.order("alice", key: "1")
    let other = try backend.order("alice", key: "2")
    let record = Sample.record(token: named.accountToken)
    let claim = Sample.claim(for: record, match: match, order: other.number, candidates: [other.number])
    let verdict = try backend.upload(claim, holding: [record])
    #expect(verdict.verdict == .granted)
    #expect(verdict.orderNumber == named.number)
    #expect(backend.model.order(number: other.number)?.state == .open)
  }

  @Test(arguments: [Claim.Match.none, .bound, .proposed])
  func `an unknown account token is none, and the order of the claim counts`(match: Claim.Match) throws {
    var backend = BackendFixture()
    let order = try backend.order("alice")
    let record = Sample.record(token: UUID())
    let claim = Sample.claim(for: record, match: match, order: order.number, candidates: [order.number])
    let told = try backend.upload(claim, holding: [record])
    #expect(told.verdict == .granted && told.owner == .yours)
    #expect(told.orderNumber == (match == .none ? nil : order.number))
    #expect(backend.model.order(number: order.number)?.state == (match == .none ? .open : .delivered))
    #expect(try backend.upload(Sample.claim(for: record), holding: [record]).verdict == .duplicate)
  }

  @Test func `with one token for an account, product, quantity, claim and time tell its order`() throws {
    var backend = BackendFixture()
    let token = UUID()
    func order(_ number: Int, _ product: String = "coins", at offset: Int64 = 0) -> BackendOrder {
      BackendOrder(
        number: "order-\(number)", account: "alice", idempotencyKey: "\(number)", accountToken: token,
        productID: product, quantity: 1, createdAt: Sample.now.adding(milliseconds: offset))
    }
    for order in [order(1), order(2, "pro"), order(3, at: 1), order(4, at: 3_600_000)] {
      backend.model.apply(.order(order))
    }
    var paid: [String?] = []
    for (number, claimed) in [("1", nil), ("2", "order-1"), ("3", nil)] as [(String, String?)] {
      var record = Sample.record(number, token: token)
      record.purchasedAt = Sample.now.adding(milliseconds: 1_000)
      let claim = Sample.claim(for: record, match: claimed == nil ? .none : .bound, order: claimed)
      // Another person's device sends it.
      let told = try backend.upload(claim, holding: [record], as: .account("bob"))
      #expect(told.verdict == .otherOwner)
      paid.append(backend.model.credits.last?.orderNumber)
    }
    #expect(paid == ["order-3", "order-1", nil])
    #expect(backend.model.credits.allSatisfy { $0.owner == .account("alice") })
    #expect(backend.model.order(number: "order-2")?.state == .open)
  }

  @Test(arguments: [("pro", 1), ("coins", 2)])
  func `a payment that differs from its order is credited as paid, and the order stays open`(
    product: String, quantity: Int
  ) throws {
    var backend = BackendFixture()
    let order = try backend.order("alice", product: product, quantity: quantity)
    let record = Sample.record()
    let bound = Sample.claim(for: record, match: .bound, order: order.number)
    #expect(try backend.upload(bound, holding: [record]).verdict == .granted)
    let tokened = Sample.record("2", token: order.accountToken)
    let told = try backend.upload(Sample.claim(for: tokened), holding: [tokened], as: .account("bob"))
    #expect(told.verdict == .otherOwner)
    #expect(backend.model.credits.map(\.owner) == [.account("alice"), .account("alice")])
    #expect(backend.model.credits.map(\.productID) == ["coins", "coins"])
    #expect(backend.model.credits.map(\.orderNumber) == [nil, nil])
    #expect(backend.model.order(number: order.number)?.state == .open)
  }

  @Test
  func `of a wrong product, quantity or order in a claim the proof counts, and another app's is rejected`()
    throws
  {
    var backend = BackendFixture()
    let record = Sample.record()
    var product = Sample.claim(for: record)
    product.productID = "pro"
    var quantity = Sample.claim(for: record)
    quantity.quantity = 2
    for claim in [product, quantity] {
      _ = try backend.upload(claim, holding: [record])
      #expect(backend.model.credits.map(\.productID) == ["coins"])
      #expect(backend.model.credits.map(\.quantity) == [1])
    }
    let unknown = Sample.record("2")
    let order = Sample.claim(for: unknown, match: .bound, order: "none such")
    #expect(try backend.upload(order, holding: [unknown], as: .device(UUID())).verdict == .granted)
    let foreign = ReceiptForge(bundleID: "com.example.other").signedTransaction(record, signedAt: Sample.now)
    let facts = try SignedTransaction(jws: foreign)
    #expect(try backend.upload(Sample.claim(for: record), answer: .genuine([facts])).verdict == .rejected)
    #expect(backend.model.credits.count == 2)
  }

  @Test func `a second payment for a fulfilled order goes to its owner without an order`() throws {
    var backend = BackendFixture()
    let order = try backend.order("alice")
    for id in ["1", "2"] {
      let record = Sample.record(id, token: order.accountToken)
      let claim = Sample.claim(for: record, match: .bound, order: order.number)
      #expect(try backend.upload(claim, holding: [record]).verdict == .granted)
    }
    #expect(backend.model.credits.map(\.orderNumber) == [order.number, nil])
    #expect(backend.model.order(number: order.number)?.fulfilledBy?.transactionID == "1")
    #expect(backend.model.doubledCredits == 0)
  }

  @Test func `a proposed claim takes the first open candidate with its product and quantity`() throws {
    var backend = BackendFixture()
    let done = try backend.order("alice", key: "1")
    let first = Sample.record("1")
    let bound = Sample.claim(for: first, match: .bound, order: done.number)
    #expect(try backend.upload(bound, holding: [first]).verdict == .granted)
    let orders = [
      done, try backend.order("alice", product: "pro", key: "2"), try backend.order("bob", key: "3"),
      try backend.order("alice", key: "4"), try backend.order("alice", key: "5"),
    ]
    let candidates = ["no such"] + orders.map(\.number)
    let second = Sample.record("2")
    let proposed = Sample.claim(for: second, match: .proposed, candidates: candidates)
    let verdict = try backend.upload(proposed, holding: [second])
    #expect(verdict.verdict == .granted)
    #expect(verdict.orderNumber == orders[3].number)
  }

  @Test func `a proposed claim without a fitting candidate is granted without an order`() throws {
    var backend = BackendFixture()
    let other = try backend.order("bob")
    let record = Sample.record()
    let claim = Sample.claim(for: record, match: .proposed, candidates: [other.number])
    let verdict = try backend.upload(claim, holding: [record])
    #expect(verdict.verdict == .granted)
    #expect(verdict.orderNumber == nil)
    #expect(backend.model.order(number: other.number)?.state == .open)
  }
}
