import AppStoreReceipts
import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting
import Testing

/// Transactions over the App Store Server API, against the store of another server.
struct ServerAPIVerifierTests {
  private func with(_ body: (WorldServer, ServerAPIVerifier, StoreTransactionRecord) throws -> Void) throws {
    let directory = try TemporaryDirectory()
    let server = try WorldServer(
      databasePath: directory.path("world.sqlite"),
      products: [StoreProduct(id: "gems", kind: .consumable)], bundleID: Sample.bundleID,
      now: Timestamp.wallClock)
    try server.start()
    defer { server.stop() }
    let verifier = ServerAPIVerifier(
      store: server.baseURL, forge: ReceiptForge(bundleID: Sample.bundleID), timeout: 5)
    let record = try server.withStore { (store) throws(StoreModelError) in
      try store.pay(
        product: "gems", quantity: 1, accountToken: nil, storeAccount: "apple-1", now: .wallClock())
    }
    try body(server, verifier, record)
  }

  private func jws(_ server: WorldServer, _ id: String) throws -> String {
    try server.withStore { (store) throws(StoreModelError) in
      try store.signedTransaction(for: id, now: .wallClock())
    }
  }

  @Test func `a signed transaction is what has become of it since, a refund too`() throws {
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

  @Test func `what the store did not sign, does not know, or holds elsewhere is told apart`() throws {
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

  @Test func `a store that is down or talks nonsense has said nothing`() throws {
    try with { server, verifier, record in
      let query = VerificationQuery.transaction(environment: "Production", id: record.transactionID)
      for plan in [
        FaultPlan.outage(path: "/inApps", requests: 1), .captivePortal(requests: 1, path: "/inApps"),
        // Again and again: a GET is sent once more by itself.
        FaultPlan([.init(pathPrefix: "/inApps", count: nil, fault: .dropBeforeCommit)]),
      ] {
        server.setFaults(plan)
        #expect(verifier.answer(to: query, now: .wallClock()).outcome == .unavailable)
      }
      server.stop()
      #expect(verifier.answer(to: query, now: .wallClock()).outcome == .unavailable)
    }
  }
}
