import Foundation
import PurchaseSQLite
import PurchaseSync
import TestSupport
import Testing

@testable import PurchaseSyncTesting

/// Many requests share a few commits, and each gets its own answer.
@Suite struct GroupCommitTests {
  /// Counts the gathered changes, and the batches that reach the disk.
  private final class Disk: @unchecked Sendable {
    private let lock = NSLock()
    private var gathered = 0
    private var batches: [ClosedRange<Int>] = []
    private var taken = 0
    private var committing = 0
    private(set) var overlaps = 0
    var failing: Set<Int> = []

    func gather() -> Int {
      lock.withLock {
        gathered += 1
        return gathered
      }
    }

    /// A commit takes a while. Two at the same moment overlap.
    func commit() -> GroupCommit.Outcome {
      let through = lock.withLock {
        committing += 1
        if committing > 1 { overlaps += 1 }
        return gathered
      }
      for _ in 0..<10 { sched_yield() }
      return lock.withLock {
        committing -= 1
        guard through > taken else { return GroupCommit.Outcome(through: through) }
        let batch = (taken + 1)...through
        taken = through
        batches.append(batch)
        let fails = failing.contains { batch.contains($0) }
        return GroupCommit.Outcome(
          through: through, failure: fails ? BackendStoreError(unreadable: "it") : nil)
      }
    }

    func has(_ number: Int) -> Bool { lock.withLock { taken >= number } }
    var all: [ClosedRange<Int>] { lock.withLock { batches } }
  }

  private struct OrderNumbers: Decodable { var orders: [OrderDocument] }

  /// Makes this many requests from eight threads, and returns how many got the error of a failed commit.
  private func run(_ count: Int, _ commits: GroupCommit, _ disk: Disk) -> Set<Int> {
    let failed = Locked<Set<Int>>([])
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      for _ in 0..<(count / 8) {
        let number = disk.gather()
        do throws(BackendStoreError) {
          try commits.wait(for: number) { disk.commit() }
          if !disk.has(number) { Issue.record("\(number) is answered before it is on the disk") }
        } catch {
          failed.withLock { _ = $0.insert(number) }
        }
      }
    }
    return failed.withLock { $0 }
  }

  @Test func `no two commits overlap, and no request is answered before its commit`() {
    let disk = Disk()
    #expect(run(4_000, GroupCommit(), disk).isEmpty)
    #expect(disk.overlaps == 0)
    #expect(disk.has(4_000))
  }

  @Test func `exactly the requests of a failed batch get its error`() {
    let disk = Disk()
    disk.failing = [1, 777, 2_048, 4_000]
    let failed = run(4_000, GroupCommit(), disk)
    let expected = disk.all.filter { batch in disk.failing.contains { batch.contains($0) } }.flatMap {
      Array($0)
    }
    #expect(failed == Set(expected))
  }

  @Test func `a request without writes causes no commit`() throws {
    let (disk, commits) = (Disk(), GroupCommit())
    try commits.wait(for: 0) { disk.commit() }
    let number = disk.gather()
    try commits.wait(for: number) { disk.commit() }
    try commits.wait(for: number) { disk.commit() }
    #expect(disk.all == [1...1])
  }

  @Test func `requests whose commit fails are answered 500, and did not happen`() async throws {
    let fixture = try MockServerFixture()
    let order = try await fixture.order(key: "before")
    try fixture.server.refuseWrites(true)
    let headers = MockServerFixture.bearer("alice").merging(["Idempotency-Key": "k9"]) { first, _ in first }
    let refused = try await fixture.send(
      "POST", "/v1/orders", headers, json: #"{"productID":"coins","quantity":1}"#)
    #expect(refused.status == 500)
    try fixture.server.refuseWrites(false)
    let read = try await fixture.send("GET", "/v1/orders", MockServerFixture.bearer("alice"))
    let kept = try read.decode(OrderNumbers.self).orders.map(\.number)
    #expect(kept == [order.number])
  }
}

/// Changes that are gathered and not yet in the file, while another request fails.
@Suite struct GatheringTests {
  private struct Refusal: Error {}

  private func open(_ directory: TemporaryDirectory) throws -> BackendStore {
    try BackendStore(path: directory.path("backend.sqlite"), bundleID: Sample.bundleID, seed: 3)
  }

  private func order(_ key: String, in store: BackendStore) throws -> String {
    try store.perform { model in
      let made = try model.createOrder(
        OrderRequest(productID: "coins", quantity: 1), account: "alice", idempotencyKey: key, now: Sample.now,
        expiresAt: nil)
      return (made.order.number, made.writes)
    }
  }

  @Test func `a refused request does not undo the requests before it`() throws {
    let directory = try TemporaryDirectory()
    let store = try open(directory)
    store.isGathering = true
    let first = try order("a", in: store)
    #expect(throws: Refusal.self) {
      try store.change { _ in throw Refusal() }
    }
    let second = try order("b", in: store)
    #expect(first != second)
    #expect(try store.model().orders.map(\.number) == [first, second])
    try store.flush()
    let again = try open(directory)
    #expect(try again.model().orders.map(\.number) == [first, second])
  }

  @Test func `the waiting requests get the error of a failed flush`() throws {
    let store = try open(try TemporaryDirectory())
    store.isGathering = true
    _ = try order("a", in: store)
    try store.refuseWrites(true)
    #expect(throws: BackendStoreError.self) { try store.flush() }
    try store.refuseWrites(false)
    let batch = store.take()
    #expect(throws: BackendStoreError.self) { try store.commit(batch) }
    // Until it is abandoned, requests that were judged by it are not committed.
    #expect(throws: BackendStoreError.self) { try store.flush() }
    #expect(store.abandon() == batch.through)
    #expect(try store.model().orders == [])
    _ = try order("b", in: store)
    try store.flush()
    #expect(try store.model().orders.count == 1)
  }
}
