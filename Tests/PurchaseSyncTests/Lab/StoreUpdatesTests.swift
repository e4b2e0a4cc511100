import Foundation
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// The loop that passes the store's updates to the engine, tested with a sequence in place of StoreKit's.
@Suite struct StoreUpdatesTests {
  /// A store that lists nothing and finishes nothing.
  private struct EmptyStore: StoreClient {
    func unfinished() async throws -> StoreListing { StoreListing(transactions: []) }
    func finish(transactionIDs: [String]) async throws -> [String: FinishResult] { [:] }
  }

  private struct NoBackend: BackendTransport {
    func send(_ request: BackendRequest) async throws(TransportError) -> BackendResponse {
      throw TransportError(reason: "no connection")
    }
  }

  private struct Broken: Error {}

  private func withEngine(
    limits: QueueLimits = QueueLimits(), _ body: (SyncEngine) async throws -> Void
  ) async throws {
    let directory = FileManager.default.temporaryDirectory.path + "/StoreUpdatesTests-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    defer {
      do {
        try FileManager.default.removeItem(atPath: directory)
      } catch {
        Issue.record(error, "the temporary directory cannot be removed")
      }
    }
    let engine = try await SyncEngine.open(
      SyncConfiguration(path: directory + "/queue.sqlite", limits: limits).patient, store: EmptyStore(),
      transport: NoBackend(), credentials: { _ in nil })
    try await body(engine)
    await engine.shutdown()
  }

  private func transaction(_ id: UInt64) -> StoreTransaction {
    StoreTransaction(
      StoreKitTransaction(
        jws: "unreadable", isVerified: true, id: id, originalID: id, productID: "gems", quantity: 1,
        purchaseDate: Date(timeIntervalSince1970: 1_780_000_000), accountToken: nil, environment: "Production"
      ))
  }

  @Test func `an update in the background leaves the file closed, also one that says nothing new`()
    async throws
  {
    try await withEngine { engine in
      for _ in 1...2 {
        await engine.suspend()
        let (updates, store) = AsyncStream.makeStream(of: StoreTransaction.self)
        store.yield(transaction(1))
        store.finish()
        await engine.receive(updates: updates)
        #expect(await !engine.isFileOpen)
      }
    }
  }

  @Test func `every update is durable, and a repeated one stays one entry`() async throws {
    try await withEngine { engine in
      let (updates, store) = AsyncStream.makeStream(of: StoreTransaction.self)
      for id in [1, 2, 1] as [UInt64] { store.yield(transaction(id)) }
      store.finish()
      await engine.receive(updates: updates)
      let kept = try await engine.snapshot().unsettled
      #expect(kept == 2)
    }
  }

  @Test func `an update without capacity is reported, and the next ones are still received`() async throws {
    try await withEngine(limits: QueueLimits(entries: 1)) { engine in
      let events = try await engine.eventStream()
      let (updates, store) = AsyncStream.makeStream(of: StoreTransaction.self)
      for id in [1, 2, 1] as [UInt64] { store.yield(transaction(id)) }
      store.finish()
      await engine.receive(updates: updates)
      let kept = try await engine.snapshot().unsettled
      #expect(kept == 1)
      await engine.shutdown()
      var failures: [SyncError] = []
      for await case .failed(let error) in events { failures.append(error) }
      #expect(failures.contains(.queue(.queueFull(.entries, needed: 2, allowed: 1))))
    }
  }

  @Test func `a sequence that throws is reported`() async throws {
    try await withEngine { engine in
      let events = try await engine.eventStream()
      await engine.receive(updates: AsyncThrowingStream<StoreTransaction, any Error> { throw Broken() })
      await engine.shutdown()
      var failures: [SyncEvent] = []
      for await event in events { failures.append(event) }
      #expect(failures.contains(.failed(.store(reason: "its updates ended with an error"))))
    }
  }

  @Test func `after a shutdown the loop ends, although the store continues`() async throws {
    try await withEngine { engine in
      let (updates, store) = AsyncStream.makeStream(of: StoreTransaction.self)
      let loop = Task { await engine.receive(updates: updates) }
      await engine.shutdown()
      store.yield(transaction(1))
      await loop.value
      store.finish()
    }
  }

  @Test func `a cancelled loop ends`() async throws {
    try await withEngine { engine in
      let (updates, store) = AsyncStream.makeStream(of: StoreTransaction.self)
      let loop = Task { await engine.receive(updates: updates) }
      loop.cancel()
      await loop.value
      store.finish()
    }
  }
}
