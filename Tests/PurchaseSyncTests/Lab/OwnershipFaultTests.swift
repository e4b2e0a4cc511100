import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import TestSupport
import Testing

@testable import PurchaseSync

/// Whose purchase it is when requests come late, in another order, or with an old token.
@Suite struct OwnershipFaultTests {
  @Test
  func `an order that a device made is its account's, also if another device reports the transaction first`()
    async throws
  {
    try await OwnershipLab.with { lab in
      let isOffline = Locked(true)
      var configuration = try lab.configuration("phone", signedIn: "alice")
      configuration.orderPolicy = .deviceOnly
      let transport = RecordingTransport(lab.server.transport) { _ in
        isOffline.value ? BackendResponse(status: 502, body: Data()) : nil
      }
      let phone = try await lab.open(configuration, transport: transport)
      let order = try await phone.begin(product: "gems", account: "alice")
      let paid = try await lab.pay("gems", order.accountToken)
      try await phone.receive(.purchased(paid), for: order)
      // The family's iPad learns of it by Transaction.updates. It is online, and bob is signed in there.
      let pad = try await lab.open("pad", signedIn: "bob")
      try await pad.receive(paid)
      try await lab.settle(pad)
      try await pad.adoptDevicePurchases(for: "bob")
      try await lab.settle(pad)
      isOffline.withLock { $0 = false }
      try await phone.wake(.userAsked)
      let outcome = try #require(try await lab.outcomes(1, on: phone).first)
      #expect(
        outcome.verdict != .otherOwner,
        "alice paid her own order: \(outcome.verdict.rawValue), \(outcome.owner.rawValue)")
      #expect(try lab.owners == [.account("alice")])
      await pad.shutdown()
      await phone.shutdown()
    }
  }

  @Test func `what was bought before any sign-in is not called another account's on the next phone`()
    async throws
  {
    try await OwnershipLab.with { lab in
      let old = try await lab.open("old", signedIn: nil)
      try await old.receive(try await lab.pay("pro"))
      #expect(try await lab.settle(old).map(\.owner) == [.device])
      await old.shutdown()
      // A new phone, the same Apple ID. The keychain's items are this-device-only: another device name.
      let new = try await lab.open("new", signedIn: "alice")
      try await new.refreshReceipt()
      let outcome = try #require(try await lab.outcomes(1, on: new).first)
      #expect(outcome.owner != .another, "no account has it: \(outcome.verdict.rawValue)")
      try await new.adoptDevicePurchases(for: "alice")
      try await lab.settle(new)
      #expect(try lab.owners == [.account("alice")], "she can never get what she paid for")
      await new.shutdown()
    }
  }

  @Test func `a paid order that the backend lost with a backup is credited to its account`() async throws {
    try await OwnershipLab.with { lab in
      let engine = try await lab.open("phone", signedIn: "alice")
      let backup = try lab.server.backUp()
      let order = try await engine.begin(product: "gems", account: "alice")
      try lab.server.restore(backup)
      try await engine.receive(.purchased(try await lab.pay("gems", order.accountToken)), for: order)
      try await until { try await !engine.snapshot().outcomes.isEmpty }
      #expect(try lab.owners == [.account("alice")])
      await engine.shutdown()
    }
  }

  @Test func `adoptions go out in the order in which they were asked for`() async throws {
    try await OwnershipLab.with { lab in
      let isOffline = Locked(true)
      let transport = RecordingTransport(lab.server.transport) {
        $0.path == "v1/adoptions" && isOffline.value ? BackendResponse(status: 502, body: Data()) : nil
      }
      let pad = try await lab.open(try lab.configuration("pad", signedIn: nil), transport: transport)
      try await pad.receive(try await lab.pay("pro"))
      try await pad.adoptDevicePurchases(for: "bob")
      try await pad.adoptDevicePurchases(for: "alice")
      isOffline.withLock { $0 = false }
      try await pad.wake(.userAsked)
      try await lab.settle(pad)
      #expect(try lab.owners == [.account("bob")])
      await pad.shutdown()
    }
  }

  @Test func `a stale token does not make the renewal of the signed-in account another's for good`()
    async throws
  {
    try await OwnershipLab.withRenewedPlan { lab, _, _ in
      // The usual closure: a cached token, refreshed when the engine says that it was refused.
      let pad = try await lab.open(
        try lab.configuration("pad", signedIn: "alice"),
        credentials: { $0.isRefused ? "token-alice" : "expired an hour ago" })
      let outcome = try #require(try await lab.outcomes(1, on: pad).last)
      #expect(outcome.owner == .yours, "\(outcome.verdict.rawValue), \(outcome.owner.rawValue)")
      await pad.shutdown()
    }
  }

  @Test func `a token that comes late does not make the renewal of the signed-in account another's for good`()
    async throws
  {
    try await OwnershipLab.withRenewedPlan { lab, _, _ in
      let calls = Locked(0)
      let gate = Gate()
      gate.close()
      var configuration = try lab.configuration("pad", signedIn: "alice")
      configuration.credentialTimeLimit = .milliseconds(50)
      let pad = try await lab.open(
        configuration,
        credentials: { request in
          // The first token takes longer than the engine waits: its refresh goes over a slow network.
          let isFirst = calls.withLock { count in
            count += 1
            return count == 1
          }
          if isFirst { await gate.pass(ignoringCancellation: false) }
          return "token-" + request.account
        })
      let outcome = try #require(try await lab.outcomes(1, on: pad).last)
      #expect(outcome.owner == .yours, "\(outcome.verdict.rawValue), \(outcome.owner.rawValue)")
      await pad.shutdown()
    }
  }

  @Test func `a vault that takes nothing does not give a restored file a new name at each opening`()
    async throws
  {
    try await OwnershipLab.with { lab in
      var childs = try await lab.restoredBackup(from: "mother", to: "child")
      childs.vault = FullVault()
      let child = try await lab.open(childs, store: lab.store("child"))
      try await child.receive(try await lab.pay("gems", by: "child"))
      try await lab.settle(child)
      await child.shutdown()
      // Any later launch, or only a return to the foreground: the file is opened again.
      let again = try await lab.open(childs, store: lab.store("child"))
      try await again.adoptDevicePurchases(for: "child")
      try await lab.settle(again)
      #expect(try lab.owners.last == .account("child"), "the name under which it was credited is lost")
      await again.shutdown()
    }
  }

  @Test func `no one can bind the name of a device to another secret`()
    async throws
  {
    try await OwnershipLab.with { lab in
      let transport = RecordingTransport(lab.server.transport)
      let phone = try await lab.open(try lab.configuration("phone", signedIn: "alice"), transport: transport)
      try await lab.buy("gems", "alice", on: phone)
      let upload = try #require(transport.seen.value.first { $0.path == "v1/receipts" })
      let name = try JSONDecoder().decode(UploadRequest.self, from: upload.body).device.uuidString
      let stolen = BackendRequest(
        method: "POST", path: "v1/adoptions",
        headers: ["Authorization": "Device \(name):guess", "Account-Authorization": "Bearer token-mallory"],
        body: Data(#"{"device":"\#(name)"}"#.utf8))
      let status = try await URLSessionTransport(base: lab.server.baseURL).send(stolen).status
      #expect(status != 200, "the name alone is enough to adopt in its name")
      try await phone.receive(try await lab.pay("pro"))
      try await until { try lab.server.snapshot().credits.count == 2 }
      await phone.shutdown()
    }
  }

  /// A keychain that stores nothing.
  private struct FullVault: QueueVault {
    func store(_ item: VaultItem) throws(VaultError) { throw .failed(reason: "the keychain takes nothing") }
    func remove(named name: String) throws(VaultError) {}
    func list() throws(VaultError) -> [String] { [] }
    func item(named name: String) throws(VaultError) -> VaultItem? { nil }
    var itemBytes: Int { 16 << 10 }
  }
}
