import Foundation
import PurchaseQueue
import TestSupport
import Testing

/// Random operations on the queue and on a simple model: both have to show the same state.
@Suite struct ModelTests {
  struct Random: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var z = state
      z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
      z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
      return z ^ (z >> 31)
    }
    mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }
    mutating func pick<T>(_ list: [T]) -> T { list[below(list.count)] }
  }

  static let limits = QueueLimits(
    entries: 5, totalBytes: 1_000, payloadBytes: 400, quarantinedEntries: 2, quarantinedBytes: 500)
  static let lanes: [Lane] = [.device, .account("a"), .account("b")]

  @Test(arguments: LongTests.seeds(short: 8, long: 12)) func `the queue behaves like the model`(
    seed: UInt64
  ) async throws {
    try await withTemporaryDirectory { directory in
      var random = Random(state: seed)
      var model = QueueModel(limits: Self.limits)
      let path = directory + "/q"
      let vault = seed.isMultiple(of: 3) ? DirectoryVault(directory: directory + "/vault") : nil
      var queue = try QueueFile(path: path, limits: Self.limits, vault: vault, now: noon)
      for step in 0..<120 {
        let now = Int64(step) * 10 + noon.milliseconds
        if random.below(25) == 0 {
          queue = try QueueFile(path: path, limits: Self.limits, vault: vault, now: noon)
        }
        if random.below(25) == 0 { try queue.maintain(now: noon) }
        let operation = Operation.random(now: now, using: &random)
        let expected = operation.run(on: &model, now: now)
        let actual = operation.run(on: queue, now: now)
        #expect(actual == expected, "\(operation) in step \(step)")
        try compare(queue, model, now: now)
        if actual != expected { return }
      }
      #expect(try QueueCheck.run(path: path).isClean)
    }
  }

  @Test(arguments: 1...12) func `callers that share a commit get the same results as alone`(
    seed: UInt64
  ) async throws {
    try await withTemporaryDirectory { directory in
      var random = Random(state: seed &+ 1_000)
      var model = QueueModel(limits: Self.limits)
      let queue = try QueueFile(path: directory + "/q", limits: Self.limits, now: noon)
      for step in 0..<40 {
        let now = Int64(step) * 10 + noon.milliseconds
        let operations = (0..<random.below(8) + 1).map { _ in Operation.random(now: now, using: &random) }
        let expected = operations.map { $0.run(on: &model, now: now) }
        let actual = queue.groupCommit(operations.map { $0.call(now: now) })
        #expect(actual == expected, "\(operations) in step \(step)")
        try compare(queue, model, now: now)
      }
    }
  }

  private func compare(_ queue: QueueFile, _ model: QueueModel, now: Int64) throws {
    let items = try queue.allEntries().map { entry in
      var payloads: [String: [UInt8]?] = [:]
      for reference in entry.payloads {
        payloads[reference.kind] = .some(try queue.payload(reference)?.bytes)
      }
      return QueueModel.Item(
        key: entry.key.rawValue, lane: entry.lane, order: entry.orderNumber, attempts: entry.attempts,
        readyAt: entry.readyAt.milliseconds, isQuarantined: entry.state == .quarantined, payloads: payloads)
    }
    #expect(items == model.items)
    for lane in Self.lanes {
      #expect(try queue.head(of: lane)?.key.rawValue == model.head(of: lane))
    }
    let ready = try queue.nextReady(now: Timestamp(milliseconds: now))?.key.rawValue
    #expect(ready == model.nextReady(now: now))
    let health = try queue.health()
    #expect(health.queued == model.queued)
    #expect(health.bytes == model.bytes)
    #expect(health.reserved == model.reservations.count)
    #expect(health.reservedBytes == model.reservations.values.reduce(0) { $0 + $1.bytes })
    #expect(health.tombstones == model.settled.count)
    #expect(health.unconfirmed == model.unconfirmed.count)
  }
}
