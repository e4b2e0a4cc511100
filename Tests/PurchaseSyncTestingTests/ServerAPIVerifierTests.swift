import AppStoreReceipts
import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSync
import TestSupport
import Testing

@testable import PurchaseSyncTesting

/// Transactions over the App Store Server API, against the store of another server.
struct ServerAPIVerifierTests {
  private func with(_ body: (MockServer, ServerAPIVerifier, StoreTransactionRecord) throws -> Void) throws {
    let directory = try TemporaryDirectory()
    let server = try MockServer(
      databasePath: directory.path("fixture.sqlite"),
      products: [StoreProduct(id: "gems", kind: .consumable)], bundleID: Sample.bundleID,
      now: Timestamp.wallClock)
    try server.start()
    defer { server.stop() }
    let verifier = ServerAPIVerifier(
      store: server.baseURL, forge: ReceiptForge(bundleID: Sample.bundleID), timeout: 60)
    let record = try server.withStore { (store) throws(StoreModelError) in
      try store.pay(
        product: "gems", quantity: 1, accountToken: nil, storeAccount: "apple-1", now: .wallClock())
    }
    try body(server, verifier, record)
  }

  private func jws(_ server: MockServer, _ id: String) throws -> String {
    try server.withStore { (store) throws(StoreModelError) in
      try store.signedTransaction(for: id, now: .wallClock())
    }
  }

  @Test func `a signed transaction is answered in its present state, refund included`() throws {
    try with { server, verifier, record in
      let proof = ProofDocument(kind: .signedTransaction, data: try jws(server, record.transactionID))
      let before = verifier.answer(to: .proof(proof), now: .wallClock()).report?.transactions
      #expect(before?.map(\.transactionID) == [record.transactionID])
      #expect(before?.first?.revocationDate == nil)
      _ = try server.withStore { (store) throws(StoreModelError) in
        try store.refund(transactionID: record.transactionID, now: .wallClock())
      }
      let after = verifier.answer(to: .proof(proof), now: .wallClock()).report?.transactions
      #expect(after?.first?.revocationDate != nil)
      let byID = VerificationQuery.transaction(environment: "Production", id: record.transactionID)
      let told = verifier.answer(to: byID, now: .wallClock()).report?.transactions
      #expect(told?.map(\.revocationDate) == after?.map(\.revocationDate))
    }
  }

  @Test func `forged, unknown and other environments' transactions have different answers`() throws {
    try with { server, verifier, record in
      func outcome(_ query: VerificationQuery) -> StoreAnswer.Outcome {
        verifier.answer(to: query, now: .wallClock()).outcome
      }
      var forged = try jws(server, record.transactionID)
      forged.removeLast(4)
      forged += "AAAA"
      #expect(outcome(.proof(ProofDocument(kind: .signedTransaction, data: forged))) == .forged)
      #expect(outcome(.proof(ProofDocument(kind: .signedTransaction, data: "no JWS"))) == .malformed)
      #expect(outcome(.proof(ProofDocument(kind: .appReceipt, data: "AAAA"))) == .malformed)
      #expect(outcome(.transaction(environment: "Production", id: "404")) == .notFound)
      #expect(outcome(.subscription(environment: "Production", originalTransactionID: "404")) == .notFound)
      #expect(outcome(.transaction(environment: "Sandbox", id: record.transactionID)) == .notFound)
      let original = record.originalTransactionID
      let history = verifier.answer(
        to: .subscription(environment: "Production", originalTransactionID: original), now: .wallClock())
      #expect(history.report?.transactions.map(\.transactionID) == [record.transactionID])
    }
  }

  @Test func `a store that is down or answers nonsense counts as unavailable`() throws {
    try with { server, verifier, record in
      let query = VerificationQuery.transaction(environment: "Production", id: record.transactionID)
      for plan in [
        FaultPlan.outage(path: "/inApps", requests: 1), .captivePortal(requests: 1, path: "/inApps"),
        // The fault is repeated, because the client repeats a GET by itself.
        FaultPlan([.init(path: "/inApps", count: nil, fault: .dropBeforeCommit)]),
      ] {
        server.setFaults(plan)
        #expect(verifier.answer(to: query, now: .wallClock()).outcome == .unavailable)
      }
      server.stop()
      #expect(verifier.answer(to: query, now: .wallClock()).outcome == .unavailable)
    }
  }
}
