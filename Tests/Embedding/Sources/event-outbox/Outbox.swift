import PurchaseQueue

// The example of the documentation is between the two marks. A test compares the texts.
// MARK: begin
/// Events that must arrive, however often the app is killed.
struct Outbox: Sendable {
  let queue: DurableQueue
  var backoff = Backoff()

  /// When it returns, the event arrives. By the identifier the receiver knows which events it has already.
  func record(_ event: [UInt8], id: String) async throws {
    let payload = Payload(kind: "event", bytes: event)
    try await queue.enqueue(NewEntry(key: EntryKey(rawValue: id), lane: "events", payloads: [payload]))
  }

  /// Sends events in the order in which they were recorded, for as long as the app runs.
  func run(sending send: ([UInt8], String) async throws -> Void) async {
    for await delivery in queue.deliveries(backoff: backoff) {
      do {
        for payload in delivery.payloads { try await send(payload.bytes, delivery.entry.key.rawValue) }
        try await delivery.acknowledge()
      } catch {
        await delivery.retryLater(reason: "the receiver did not answer")
      }
    }
  }
}
// MARK: end
