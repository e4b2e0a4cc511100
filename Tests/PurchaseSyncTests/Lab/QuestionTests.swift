import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import TestSupport
import Testing

@testable import PurchaseSync

/// An account that asks whose a purchase is, and never comes back, and words that were meant for another person.
@Suite struct QuestionTests {
  /// With a purchase of the device's, and a question of bob's about it, who has signed out.
  private func questioned(
    _ asks: Bool,
    _ body: (OwnershipLab, SyncEngine, _ paid: StoreTransaction, _ before: BackendBackup) async throws -> Void
  ) async throws {
    try await OwnershipLab.with { lab in
      let accounts = SignedIn()
      let pad = try await lab.open(
        try lab.configuration("pad", signedIn: nil), credentials: { accounts.token(of: $0.account) })
      let backup = try lab.server.backUp()
      let paid = try await lab.pay("pro")
      try await pad.receive(paid)
      try await lab.settle(pad)
      if asks {
        let his = try await pad.begin(product: "pro", account: "bob")
        accounts.signOut("bob")
        try await pad.receive(.purchased(try await lab.pay("pro", his.accountToken)), for: his)
        _ = try await events(pad) { $0 == .signInNeeded(.account("bob")) }
      }
      try await body(lab, pad, paid, backup)
      await pad.shutdown()
    }
  }

  @Test(arguments: [true, false])
  func `a question of bob's, who is signed out, does not hold up alice's order`(asks: Bool) async throws {
    try await questioned(asks) { lab, pad, _, _ in
      let hers = try await pad.begin(product: "pro", account: "alice")
      try await pad.receive(.purchased(try await lab.pay("pro", hers.accountToken)), for: hers)
      try await until {
        try await pad.wake(.userAsked)
        return try await pad.snapshot().outcomes.contains { $0.orderNumber == hers.number }
      }
    }
  }

  @Test(arguments: [true, false]) func `a question of bob's, who is signed out, does not hold up a refund`(
    asks: Bool
  ) async throws {
    try await questioned(asks) { lab, pad, paid, _ in
      let now = lab.now
      let refunded = try lab.server.withStore { (store) throws(StoreModelError) in
        _ = try store.refund(transactionID: paid.transactionID, now: now)
        return try store.signedTransaction(for: paid.transactionID, now: now)
      }
      try await pad.receive(StoreTransaction(jws: refunded))
      try await until {
        try await pad.wake(.userAsked)
        return try await pad.snapshot().outcomes.contains { $0.verdict == .refunded }
      }
    }
  }

  @Test(arguments: [true, false])
  func `a question of bob's, who is signed out, does not keep a purchase from a restored backend`(asks: Bool)
    async throws
  {
    try await questioned(asks) { lab, pad, _, backup in
      try lab.server.restore(backup)
      try await pad.receive(try await lab.pay("gems"))
      try await until {
        try await pad.wake(.userAsked)
        return try lab.server.snapshot().credits.count == 2
      }
    }
  }

  @Test func `bob's confirmation of what he was told does not take alice's outcome away`()
    async throws
  {
    try await OwnershipLab.withUnconfirmedRenewal { lab, configuration, signedIn in
      signedIn.withLock { $0 = "bob" }
      let his = try await lab.open(configuration)
      let shown = try #require(try await events(his) { $0.outcome != nil }.last?.outcome)
      #expect(shown.owner == .another)
      try await his.confirm(shown)
      await his.shutdown()
    }
  }

  @Test func `a token that cannot be refreshed for a while does not make her renewal another's for good`()
    async throws
  {
    try await OwnershipLab.withRenewedPlan { lab, _, _ in
      let (isFresh, asked) = (Locked(false), Locked(0))
      let pad = try await lab.open(
        try lab.configuration("pad", signedIn: "alice"),
        credentials: { request in
          if request.isRefused { asked.withLock { $0 += 1 } }
          return isFresh.value ? "token-alice" : "expired an hour ago"
        })
      try await until { asked.value > 1 }
      isFresh.withLock { $0 = true }
      try await pad.wake(.signedIn(account: "alice"))
      let outcome = try #require(try await lab.outcomes(1, on: pad).last)
      #expect(outcome.owner == .yours, "\(outcome.verdict.rawValue), \(outcome.owner.rawValue)")
      await pad.shutdown()
    }
  }
}
