/// Sends each event to every sequence that is being listened to.
struct EventStreams {
  private var continuations: [Int: AsyncStream<SyncEvent>.Continuation] = [:]
  private var next = 0

  /// A new sequence, which begins with what the listener has missed. `onEnd` gets the sequence's number.
  mutating func open(
    replaying missed: [SyncEvent], onEnd: @escaping @Sendable (Int) -> Void
  ) -> AsyncStream<SyncEvent> {
    let (stream, continuation) = AsyncStream.makeStream(of: SyncEvent.self)
    let number = next
    next += 1
    continuations[number] = continuation
    continuation.onTermination = { _ in onEnd(number) }
    for event in missed { continuation.yield(event) }
    return stream
  }

  func send(_ event: SyncEvent) {
    for continuation in continuations.values { continuation.yield(event) }
  }

  mutating func close(_ number: Int) { continuations[number] = nil }

  mutating func finish() {
    for continuation in continuations.values { continuation.finish() }
    continuations = [:]
  }
}
