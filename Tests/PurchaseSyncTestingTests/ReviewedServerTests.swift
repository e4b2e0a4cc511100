import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync
import TestSupport
import Testing

@testable import PurchaseSyncTesting

/// Faults that a reviewer found in the mock server, each as a test.
struct ReviewedServerTests {
  private func open(_ path: String, now: @escaping @Sendable () -> Timestamp = { Sample.now }) throws
    -> MockServer
  {
    try MockServer(
      databasePath: path, products: Sample.products, bundleID: Sample.bundleID, keepsStore: true, now: now)
  }

  @Test(arguments: [true, false])
  func `a second server does not get a file by its other name`(isSymbolic: Bool) throws {
    let directory = try TemporaryDirectory()
    let (path, other) = (directory.path("a.sqlite"), directory.path("b.sqlite"))
    let first = try open(path)
    if isSymbolic {
      try FileManager.default.createSymbolicLink(atPath: other, withDestinationPath: path)
    } else {
      try FileManager.default.linkItem(atPath: path, toPath: other)
    }
    #expect(throws: MockServerError.self) { try open(other) }
    first.stop()
  }

  @Test func `the clock does not go back behind an order that is the last thing in the file`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path("a.sqlite")
    let later = Sample.now.adding(milliseconds: 86_400_000)
    var server = try open(path)
    _ = try server.withStore { try $0.buy("coins") }
    server.stop()
    server = try open(path, now: { later })
    try server.mock.withLock { mock in
      _ = try mock.backend.perform { model in
        let made = try model.createOrder(
          OrderRequest(productID: "coins", quantity: 1), account: "alice", idempotencyKey: "k", now: later)
        return ((), made.writes)
      }
    }
    server.stop()
    server = try open(path)
    #expect(server.moment >= later)
    server.stop()
  }

  @Test func `an app receipt does not make a consumable another thing`() throws {
    let text = Sample.forge.signedTransaction(Sample.record(), signedAt: Sample.now)
    var signed = VerifiedTransaction(try SignedTransaction(jws: text), askedAt: 0)
    signed.isConsumable = true
    var receipt = signed
    receipt.isConsumable = nil
    receipt.toldAt += 1
    #expect(signed.merged(with: receipt).isConsumable == true)
    #expect(receipt.merged(with: signed).isConsumable == true)
  }

  @Test(arguments: [true, false])
  func `an account takes a device's purchase with its proof, and not by its id alone`(isProven: Bool) throws {
    var backend = BackendFixture()
    var record = Sample.record("1", product: "pro")
    record.kind = .nonConsumable
    let signed = try SignedTransaction(jws: Sample.forge.signedTransaction(record, signedAt: Sample.now))
    let proof = ProofDocument(kind: .signedTransaction, data: "unread")
    func judge(_ uploader: Uploader, _ proof: ProofDocument?) throws -> Verdict {
      let request = UploadRequest(
        device: backend.device, proof: proof, claims: [Sample.claim(for: record)])
      let judged = backend.model.judge(request, from: uploader, now: Sample.now) { _ in .genuine([signed]) }
      return try #require(judged.verdicts.first).verdict
    }
    #expect(try judge(.device(backend.device), proof) == .granted)
    let verdict = try judge(.account("mallory"), isProven ? proof : nil)
    #expect(verdict == (isProven ? .granted : .unknownTransaction))
    let owner: Uploader = isProven ? .account("mallory") : .device(backend.device)
    #expect(backend.model.credits.map(\.owner) == [owner])
  }
}
