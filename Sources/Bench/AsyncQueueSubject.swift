import PurchaseQueue
import PurchaseSync

/// The queue behind its actor, filled to the usual length.
struct AsyncQueueSubject {
  private let queue: DurableQueue
  private let payloads: [[UInt8]]

  init(path: String) async throws {
    queue = try await DurableQueue.open(path: path, limits: QueueSubject.limits)
    var payloads = Payloads(seed: 7)
    for index in 0..<BenchPlan.length {
      try await queue.enqueue(Self.entry("filling \(index)", payloads.next()))
    }
    self.payloads = payloads.next(64, of: BenchPlan.payloadBytes)
  }

  /// Enqueues a different entry for each number.
  func operation() -> AsyncBars.Operation {
    { [queue, payloads] index in
      var payload = payloads[index % payloads.count]
      // Different bytes: equal proofs would be stored once.
      for (offset, byte) in "\(index)".utf8.enumerated() { payload[offset] = byte }
      try await queue.enqueue(Self.entry("\(index)", payload))
    }
  }

  private static func entry(_ name: String, _ payload: [UInt8]) -> NewEntry {
    NewEntry(
      key: EntryKey(rawValue: "sandbox/" + name), lane: .device,
      payloads: [Payload(kind: "jws", bytes: payload)])
  }
}
