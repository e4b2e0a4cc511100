import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// Proofs that a backend does not take any more, such as those of a chain that has expired while they were queued.
@Suite struct OldProofTests {
  /// The mock's backend behind one that knows no proof of the first upload.
  private struct StrictBackend: BackendTransport {
    let inner: any BackendTransport
    let first: Locked<String?>
    let proofs = Locked<[String]>([])
    let verdict: String

    func send(_ request: BackendRequest) async throws(TransportError) -> BackendResponse {
      guard request.path == "v1/receipts" else { return try await inner.send(request) }
      let upload: UploadRequest
      do {
        upload = try JSONDecoder().decode(UploadRequest.self, from: request.body)
      } catch {
        throw TransportError(reason: "no upload: \(error)")
      }
      let sent = upload.proofs.map(\.data)
      proofs.withLock { $0 += sent }
      let isOld = first.withLock { first in
        first = first ?? sent.first
        return sent.first == first
      }
      guard isOld, let claim = upload.claims.first else { return try await inner.send(request) }
      let body = """
        {"ledgerEpoch":"a","verdicts":[{"environment":"\(claim.environment)",
          "transactionID":"\(claim.transactionID)","verdict":"\(verdict)","reason":"INVALID_CHAIN"}]}
        """
      return BackendResponse(status: 200, contentType: "application/json", body: Data(body.utf8))
    }
  }

  @Test func `an app in front sends the proof that the store signs now when the earlier one is unknown`()
    async throws
  {
    try await ShopLab.launch { lab, app in
      let credits = Locked(0)
      let backend = StrictBackend(
        inner: app.backend, first: Locked(nil), verdict: Verdict.unknownTransaction.rawValue)
      let shop = app.shop(backend: backend, waiting: .seconds(60)) { _ in credits.withLock { $0 += 1 } }
      let sale = try await shop.purchase(ShopLab.gems, for: "alice")
      #expect(sale.isFulfilled)
      #expect(credits.value == 1)
      #expect(Set(backend.proofs.value).count == 2)
      await shop.close()
    }
  }

  @Test func `a proof that the backend rejects is replaced when the app comes to the front`() async throws {
    try await ShopLab.launch { lab, app in
      let credits = Locked(0)
      let backend = StrictBackend(
        inner: app.backend, first: Locked(nil), verdict: Verdict.rejected.rawValue)
      let shop = app.shop(backend: backend, waiting: .zero) { _ in credits.withLock { $0 += 1 } }
      _ = try await shop.purchase(ShopLab.gems, for: "alice")
      try await lab.pass(.seconds(60))
      #expect(credits.value == 0)
      await shop.suspend()
      try await shop.resume()
      try await lab.until { credits.value == 1 }
      await shop.close()
    }
  }

  /// Another device has finished it, so no list of unfinished transactions has it.
  @Test func `of what is finished, the store signs a newer proof if its account owns it`() async throws {
    try await BuyingFixture.with { fixture in
      let old = try await fixture.store.pay(product: "pro", quantity: 1, accountToken: nil)
      let signed = try fixture.server.withStore { (store) throws(StoreModelError) in
        try store.finish(transactionID: store.transactions[0].transactionID)
        return store.forge.signedTransaction(
          store.transactions[0], signedAt: Timestamp.wallClock().adding(milliseconds: 3_600_000))
      }
      let now = try StoreTransaction(jws: signed)
      #expect(now.key == old.key)
      #expect(now.proof != old.proof)
      let backend = StrictBackend(
        inner: fixture.transport, first: Locked(nil), verdict: Verdict.unknownTransaction.rawValue)
      let accounts = fixture.accounts
      let pad = try await SyncEngine.open(
        try fixture.configuration("pad"),
        store: OwningStore(fixture.store, owning: [now], hasReceipt: false), transport: backend,
        credentials: { accounts.token(of: $0.account) })
      try await pad.receive(old)
      let state = try await snapshot(of: pad) { $0.outcomes.count == 1 && $0.purchases.isEmpty }
      #expect(state.outcomes.map(\.verdict) == [.granted])
      #expect(Set(backend.proofs.value).count == 2)
      await pad.shutdown()
    }
  }
}
