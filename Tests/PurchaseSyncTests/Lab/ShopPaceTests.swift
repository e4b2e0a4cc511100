import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// Callbacks that call the shop, and backends and stores that never say the same twice: nothing runs without a pace.
@Suite struct ShopPaceTests {
  private enum Call: CaseIterable, Sendable { case signedIn, retryNow, resume }

  /// The app's wallet is a server. Before it gives up, `fulfil` says to the shop who is signed in, or that it may try
  /// again.
  @Test(arguments: Call.allCases, [false, true])
  private func `a fulfil that fails is tried again after pauses, though it calls the shop`(
    call: Call, isDetached: Bool
  ) async throws {
    try await ShopLab.launch { lab, app in
      let (count, holder) = (Locked(0), Locked<Shop?>(nil))
      let shop = app.shop(waiting: .zero) { _ in
        count.withLock { $0 += 1 }
        try await app.sleep(50)
        let act: @Sendable () async throws -> Void = {
          switch call {
          case .signedIn: try await holder.value?.signedIn(as: "alice")
          case .retryNow: try await holder.value?.retryNow()
          case .resume: try await holder.value?.resume()
          }
        }
        if isDetached { try await Task.detached { try await act() }.value } else { try await act() }
        throw URLError(.badServerResponse)
      }
      holder.withLock { $0 = shop }
      for product in [ShopLab.gems, ShopLab.coins] { _ = try await shop.purchase(product, for: "alice") }
      try await lab.pass(.seconds(60))
      // 1 + 2 + 4 + … s: six calls for each outcome. A call from elsewhere counts as a person's.
      let asked = isDetached ? CallPace.fulfilmentRetries.most(within: 60_000) : 0
      #expect(count.value <= 2 * (7 + asked))
      #expect(count.value >= 2 * 5, "a call that waits for itself is not followed by another one")
      await shop.close()
    }
  }

  @Test func `a shop that is made in front of the person goes on after a background task`() async throws {
    try await BuyingFixture.with(.outage(path: "/v1/receipts", requests: 1_000_000)) { fixture in
      // The app became active before the shop was made: a shop behind a "Store" button.
      let wallet = Wallet()
      let hooks = SystemHooks(notifications: NotificationCenter())
      let shop = try fixture.shop(wallet, waiting: .zero, hooks: hooks)
      let engine = try await shop.syncEngine()
      try await shop.drain(until: Date().addingTimeInterval(5))
      #expect(await !shop.isSuspended)
      #expect(await !engine.isFileOpen)
      _ = try await shop.purchase("gems", for: "alice")
      try await shop.drain(until: Date())
      #expect(await engine.isFileOpen)
      fixture.server.setFaults(.none)
      try await shop.retryNow()
      try await until { wallet.products == ["gems"] }
      await shop.close()
    }
  }

  @Test func `a call in the background leaves the file open for the background task that works`() async throws
  {
    try await BuyingFixture.with { fixture in
      let (wallet, gate) = (Wallet(), Gate())
      let transport = GatedTransport(inner: fixture.transport, gate: gate)
      let shop = try fixture.shop(wallet, transport: transport, waiting: .zero)
      gate.close()
      _ = try await shop.purchase("gems", for: "alice")
      await shop.suspend()
      async let long = shop.drain(until: Date().addingTimeInterval(3_000))
      try await until { await shop.isDraining }
      let engine = try await shop.syncEngine()
      try await until { await engine.isFileOpen }
      try await shop.retryNow()
      #expect(await engine.isFileOpen)
      gate.open()
      #expect(try await long)
      #expect(wallet.products == ["gems"])
      #expect(await !engine.isFileOpen)
      await shop.close()
    }
  }

  @Test func `a confirmation in the background closes the file that it has opened`() async throws {
    try await ShopLab.launch { lab, app in
      let shop = app.shop(waiting: .zero) { _ in try await app.sleep(60_000) }
      _ = try await shop.purchase(ShopLab.gems, for: "alice")
      try await lab.pass(.seconds(5))
      let engine = try await shop.syncEngine()
      await shop.suspend()
      #expect(await !engine.isFileOpen)
      try await lab.pass(.seconds(120))
      #expect(await !engine.isFileOpen)
      try await shop.resume()
      #expect(try await engine.snapshot().outcomes.isEmpty)
      await shop.close()
    }
  }

  // MARK: Backends and stores that never say the same twice

  /// Changes the replies of uploads, and counts them.
  private struct Changing: BackendTransport {
    let inner: any BackendTransport
    let count = Locked(0)
    let change: @Sendable (inout UploadReply, Int) -> Void

    func send(_ request: BackendRequest) async throws(TransportError) -> BackendResponse {
      var response = try await inner.send(request)
      guard request.path == "v1/receipts", response.status == 200 else { return response }
      let number = count.withLock { count in
        count += 1
        return count
      }
      do {
        var reply = try JSONDecoder().decode(UploadReply.self, from: response.body)
        change(&reply, number)
        response.body = try JSONEncoder().encode(reply)
      } catch { throw TransportError(reason: "\(error)") }
      return response
    }
  }

  @Test func `a ledger epoch that changes with each answer does not make a device send without end`()
    async throws
  {
    try await ShopLab.launch { lab, app in
      let backend = Changing(inner: app.backend) { reply, number in reply.ledgerEpoch = "server \(number % 2)"
      }
      let shop = app.shop(backend: backend) { _ in }
      for _ in 1...2 { #expect(try await shop.purchase(ShopLab.gems, for: "alice").isFulfilled) }
      try await lab.pass(.seconds(60))
      #expect(backend.count.value <= 2 + 2 * CallPace.ledgerOffers.most(within: 60_000))
      await shop.close()
    }
  }

  @Test func `a proof that is signed at each reading does not make a device send without end`() async throws {
    try await ShopLab.launch { lab, app in
      let backend = Changing(inner: app.backend) { reply, _ in
        for index in reply.verdicts.indices {
          reply.verdicts[index].verdict = .unknownTransaction
          (reply.verdicts[index].owner, reply.verdicts[index].orderNumber) = (nil, nil)
        }
      }
      let store = SigningStore(inner: app.store)
      let shop = app.shop(store: store, backend: backend, waiting: .zero) { _ in }
      _ = try await shop.purchase(ShopLab.gems, for: "alice")
      try await lab.pass(.seconds(900))
      // Ten such answers are the quarantine. Between the first five are at most 18, 54, 162 and 486 s.
      let uploads = backend.count.value
      #expect(uploads >= 5 && uploads <= 15, "\(uploads) uploads")
      #expect(store.read.value.count > CallPace.newProofs.burst)
      await shop.close()
    }
  }

  /// Each of its lists has new signatures.
  private struct SigningStore: SellingStore {
    let inner: MockStoreClient
    let read = Locked<Set<Payload>>([])
    var updates: AsyncStream<StoreTransaction> { inner.updates }
    func purchase(_ order: PurchaseOrder) async throws -> PurchaseResult { try await inner.purchase(order) }
    func unfinished() async throws -> StoreListing {
      let listing = try await inner.unfinished()
      read.withLock { $0.formUnion(listing.transactions.map(\.proof)) }
      return listing
    }
    func receipt() async throws -> [UInt8]? { try await inner.receipt() }
    func refreshReceipt() async throws -> [UInt8]? { try await inner.refreshReceipt() }
    func finish(transactionIDs: [String]) async throws -> [String: FinishResult] {
      try await inner.finish(transactionIDs: transactionIDs)
    }
  }

  /// The app's session gives the shop each new token. The backend refuses the account.
  @Test(arguments: Call.allCases)
  private func `credentials that call the shop do not make it send without end`(call: Call) async throws {
    try await ShopLab.launch { lab, app in
      let (uploads, asked, holder) = (Locked(0), Locked(0), Locked<Shop?>(nil))
      let backend = RecordingTransport(app.backend) { request in
        guard request.path == "v1/receipts" else { return nil }
        uploads.withLock { $0 += 1 }
        return BackendResponse(status: 401, body: Data())
      }
      let shop = app.shop(
        backend: backend, waiting: .zero,
        credentials: { request in
          asked.withLock { $0 += 1 }
          do {
            try await app.sleep(50)
            guard request.isRefused, let shop = holder.value else { return "token-" + request.account }
            switch call {
            case .signedIn: try await shop.signedIn(as: request.account)
            case .retryNow: try await shop.retryNow()
            case .resume: try await shop.resume()
            }
          } catch { return nil }
          return "token-" + request.account
        }, fulfil: { _ in })
      holder.withLock { $0 = shop }
      for account in ["alice", "bob"] { _ = try await shop.purchase(ShopLab.gems, for: account) }
      try await lab.pass(.seconds(60))
      let most = call == .signedIn ? CallPace.signIns : CallPace.wakes
      #expect(uploads.value <= 2 * (3 + 2 * most.most(within: 60_000)))
      // After the first refusal the credentials are asked for again at once. A question that waits for itself ends there.
      #expect(uploads.value >= 2 * 2)
      #expect(asked.value <= 3 * uploads.value + 10)
      await shop.close()
    }
  }

  @Test func `a thousand taps list the store at its pace`() async throws {
    try await ShopLab.launch { lab, app in
      let store = CountedStore(inner: app.store)
      let shop = app.shop(store: store) { _ in }
      for _ in 0..<1_000 {
        try await shop.retryNow()
        try await lab.pass(.milliseconds(60))
      }
      #expect(store.listings.value <= CallPace.listings.most(within: 60_000) + 1)
      #expect(store.listings.value >= CallPace.listings.burst)
      await shop.close()
    }
  }
}
