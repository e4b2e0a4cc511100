import Foundation
import PurchaseQueue
import PurchaseSync
import Testing

@testable import PurchaseSyncTesting

/// Proposals and adoptions: which order and which account get a claim without a token.
struct BackendProposalTests {
  private func propose(
    _ id: String, _ candidates: [BackendOrder], to backend: inout BackendFixture,
    as uploader: Uploader = .account("alice"), purchasedAt: Timestamp = Sample.now
  ) throws -> String? {
    let record = Sample.record(id, purchasedAt: purchasedAt)
    let claim = Sample.claim(for: record, match: .proposed, candidates: candidates.map(\.number))
    let verdict = try backend.upload(claim, holding: [record], as: uploader)
    #expect(verdict.verdict.isSettled)
    return verdict.orderNumber
  }

  @Test func `two transactions with the same candidates get an order each, for ever`() throws {
    var backend = BackendFixture()
    let orders = [try backend.order("alice", key: "1"), try backend.order("alice", key: "2")]
    for _ in 0..<2 {
      #expect(try propose("1", orders, to: &backend) == orders[0].number)
      #expect(try propose("2", orders, to: &backend) == orders[1].number)
      #expect(try propose("3", orders, to: &backend) == nil)
      #expect(try propose("1", orders.reversed(), to: &backend) == orders[0].number)
    }
    #expect(backend.model.credits.count == 3)
    #expect(backend.model.doubledCredits == 0)
  }

  @Test func `a device's proposal goes to the order's account, if there is only one that it can be`() throws {
    var backend = BackendFixture()
    let device = Uploader.device(UUID())
    let alice = try backend.order("alice")
    let bob = try backend.order("bob")
    #expect(try propose("1", [alice, bob], to: &backend, as: device) == nil)
    #expect(try propose("2", [bob], to: &backend, as: device) == bob.number)
    #expect(backend.model.credits.map(\.owner) == [device, .account("bob")])
    #expect(try propose("3", [alice, bob], to: &backend, as: device) == alice.number)
  }

  @Test(arguments: [OrderState.cancelled, .expired])
  func `a cancelled or expired order is not proposed, but binds by its token`(state: OrderState) throws {
    var backend = BackendFixture()
    let order = try backend.order("alice")
    #expect(backend.model.move(order: order.number, to: state).count == 1)
    #expect(backend.model.move(order: order.number, to: state).isEmpty)
    #expect(try propose("1", [order], to: &backend) == nil)
    let record = Sample.record("2", token: order.accountToken)
    let verdict = try backend.upload(Sample.claim(for: record), holding: [record])
    #expect(verdict.orderNumber == order.number)
    #expect(backend.model.order(number: order.number)?.state == .delivered)
    #expect(backend.model.move(order: order.number, to: .cancelled).isEmpty)
    #expect(backend.model.order(number: order.number)?.state == .delivered)
  }

  @Test func `a deferred order is proposed`() throws {
    var backend = BackendFixture()
    let order = try backend.order("alice")
    _ = backend.model.move(order: order.number, to: .deferred)
    #expect(try propose("1", [order], to: &backend) == order.number)
  }

  @Test func `an order is matched only to charges during its wait`() throws {
    var backend = BackendFixture()
    let made = Sample.now.adding(milliseconds: 700)
    let order = try backend.model.createOrder(
      OrderRequest(productID: "coins", quantity: 1), account: "alice", idempotencyKey: "k", now: made,
      expiresAt: made.adding(milliseconds: 10_000)
    ).order
    func at(_ offset: Int64, _ id: String) throws -> String? {
      try propose(id, [order], to: &backend, purchasedAt: Sample.now.adding(milliseconds: offset))
    }
    #expect(try at(-1, "1") == nil)
    #expect(try at(10_700, "2") == nil)
    // A receipt's date has no milliseconds, so it may lie before the order.
    #expect(try at(0, "3") == order.number)
  }

  @Test func `an unpaid order expires by time`() throws {
    var backend = BackendFixture()
    let end = Sample.now.adding(milliseconds: 10)
    let order = try backend.model.createOrder(
      OrderRequest(productID: "coins", quantity: 1), account: "alice", idempotencyKey: "k", now: Sample.now,
      expiresAt: end
    ).order
    #expect(order.document(at: Sample.now).state == .open)
    #expect(order.document(at: end).state == .expired)
    #expect(backend.model.orders(account: "alice", state: .open, at: end).isEmpty)
    #expect(backend.model.orders(account: "alice", state: .expired, at: end) == [order])
    #expect(backend.model.orders(account: "alice", state: .open) == [order])
    let record = Sample.record("1", token: order.accountToken)
    _ = try backend.upload(Sample.claim(for: record), holding: [record], at: end)
    #expect(backend.model.orders(account: "alice", at: end).map { $0.state(at: end) } == [.delivered])
  }

  @Test func `an adoption covers earlier charges that are uploaded later, and no later charges`()
    throws
  {
    var backend = BackendFixture()
    let device = UUID()
    let later = Sample.now.adding(milliseconds: 10)
    let before = Sample.record("1")
    let after = Sample.record("2", purchasedAt: later)
    #expect(backend.model.adoptDevice(device, for: "alice", now: later).count == 1)
    for record in [before, after] {
      let verdict = try backend.upload(Sample.claim(for: record), holding: [record], as: .device(device))
      // The first one is alice's already, and no account is signed in.
      #expect(verdict.owner == (record == before ? .another : .device))
    }
    #expect(
      backend.model.credits.map { backend.model.owner(of: $0) } == [.account("alice"), .device(device)])
    let end = later.adding(milliseconds: 10)
    #expect(backend.model.adoptDevice(device, for: "bob", now: end).count == 1)
    #expect(backend.model.entitlements(account: "alice", now: end) == ["coins": 1])
    #expect(backend.model.entitlements(account: "bob", now: end) == ["coins": 1])
    #expect(
      try backend.upload(Sample.claim(for: before), holding: [before], as: .account("bob")).verdict
        == .otherOwner)
  }

  @Test func `an adoption of another device moves nothing`() throws {
    var backend = BackendFixture()
    let uploader = Uploader.device(UUID())
    let record = Sample.record()
    _ = try backend.upload(Sample.claim(for: record), holding: [record], as: uploader)
    _ = backend.model.adoptDevice(UUID(), for: "alice", now: Sample.now.adding(milliseconds: 1))
    #expect(backend.model.credits.map { backend.model.owner(of: $0) } == [uploader])
  }
}
