import Foundation
import PurchaseSync
import Testing

@testable import PurchaseSyncTesting

/// Many requests, few commits, and each request's own answer.
@Suite(.timeLimit(.minutes(4))) struct GroupCommitTests {
  /// Counts what is gathered, and which batches reach the disk.
  private final class Disk: @unchecked Sendable {
    private let lock = NSLock()
    private var gathered = 0
    private var batches: [ClosedRange<Int>] = []
    private var taken = 0
    var failing: Set<Int> = []

    func gather() -> Int {
      lock.withLock {
        gathered += 1
        return gathered
      }
    }

    func commit() -> GroupCommit.Outcome {
      lock.withLock {
        guard gathered > taken else { return GroupCommit.Outcome(through: gathered) }
        let batch = (taken + 1)...gathered
        taken = gathered
        batches.append(batch)
        let fails = failing.contains { batch.contains($0) }
        return GroupCommit.Outcome(
          through: gathered, failure: fails ? BackendStoreError(unreadable: "it") : nil)
      }
    }

    var all: [ClosedRange<Int>] { lock.withLock { batches } }
  }

  private struct OrderNumbers: Decodable { var orders: [OrderDocument] }

  /// How many of so many requests, from eight threads, were told that they did not happen.
  private func run(_ count: Int, _ commits: GroupCommit, _ disk: Disk) -> Set<Int> {
    let failed = Locked<Set<Int>>([])
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      for _ in 0..<(count / 8) {
        let number = disk.gather()
        do throws(BackendStoreError) {
          try commits.wait(for: number) { disk.commit() }
        } catch {
          failed.withLock { _ = $0.insert(number) }
        }
      }
    }
    return failed.withLock { $0 }
  }

  @Test func `every change is in one batch, and batches come one after the other`() {
    let disk = Disk()
    #expect(run(4_000, GroupCommit(), disk).isEmpty)
    let all = disk.all
    #expect(all.first?.lowerBound == 1)
    #expect(all.last?.upperBound == 4_000)
    for (earlier, later) in zip(all, all.dropFirst()) { #expect(later.lowerBound == earlier.upperBound + 1) }
  }

  @Test func `a batch that fails is told to exactly those that were in it`() {
    let disk = Disk()
    disk.failing = [1, 777, 2_048, 4_000]
    let failed = run(4_000, GroupCommit(), disk)
    let expected = disk.all.filter { batch in disk.failing.contains { batch.contains($0) } }.flatMap {
      Array($0)
    }
    #expect(failed == Set(expected))
  }

  @Test func `what nobody has to wait for costs no commit`() throws {
    let (disk, commits) = (Disk(), GroupCommit())
    try commits.wait(for: 0) { disk.commit() }
    let number = disk.gather()
    try commits.wait(for: number) { disk.commit() }
    try commits.wait(for: number) { disk.commit() }
    #expect(disk.all == [1...1])
  }

  @Test func `requests whose commit fails are answered 500, and did not happen`() async throws {
    let world = try WorldFixture()
    let order = try await world.order(key: "before")
    try world.server.refuseWrites(true)
    let headers = WorldFixture.bearer("alice").merging(["Idempotency-Key": "k9"]) { first, _ in first }
    let refused = try await world.send(
      "POST", "/v1/orders", headers, json: #"{"productID":"coins","quantity":1}"#)
    #expect(refused.status == 500)
    try world.server.refuseWrites(false)
    let read = try await world.send("GET", "/v1/orders", WorldFixture.bearer("alice"))
    let kept = try read.decode(OrderNumbers.self).orders.map(\.number)
    #expect(kept == [order.number])
  }
}

/// What was gathered and is not in the file yet, when something else goes wrong.
@Suite struct GatheringTests {
  private struct Refusal: Error {}

  private func open(_ directory: TemporaryDirectory) throws -> BackendStore {
    try BackendStore(path: directory.path("backend.sqlite"), bundleID: Sample.bundleID, seed: 3)
  }

  private func order(_ key: String, in store: BackendStore) throws -> String {
    try store.perform(failing: { $0 as any Error }) { model throws in
      let made = try model.createOrder(
        OrderRequest(productID: "coins", quantity: 1), account: "alice", idempotencyKey: key, now: Sample.now,
        expiresAt: nil)
      return (made.order.number, made.writes)
    }
  }

  @Test func `a request that is refused takes nothing from those before it`() throws {
    let directory = try TemporaryDirectory()
    let store = try open(directory)
    store.isGathering = true
    let first = try order("a", in: store)
    #expect(throws: Refusal.self) {
      try store.perform(failing: { $0 as any Error }) { _ throws -> (Void, [BackendWrite]) in throw Refusal()
      }
    }
    let second = try order("b", in: store)
    #expect(first != second)
    #expect(try store.model().orders.map(\.number) == [first, second])
    try store.flush()
    let again = try open(directory)
    #expect(try again.model().orders.map(\.number) == [first, second])
  }

  @Test func `what a failed flush lost is told to whoever waits for it`() throws {
    let store = try open(try TemporaryDirectory())
    store.isGathering = true
    _ = try order("a", in: store)
    try store.refuseWrites(true)
    #expect(throws: BackendStoreError.self) { try store.flush() }
    try store.refuseWrites(false)
    let batch = store.take()
    #expect(throws: BackendStoreError.self) { try store.commit(batch) }
    // Nobody commits what was judged by it, until it is abandoned.
    #expect(throws: BackendStoreError.self) { try store.flush() }
    #expect(store.abandon() == batch.through)
    #expect(try store.model().orders == [])
    _ = try order("b", in: store)
    try store.flush()
    #expect(try store.model().orders.count == 1)
  }
}
