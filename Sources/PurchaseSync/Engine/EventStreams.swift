/// Sends each event to every sequence that is being listened to.
struct EventStreams {
  private var continuations: [Int: AsyncStream<SyncEvent>.Continuation] = [:]
  private var next = 0
  /// The latest events from before the first listener. The start emits events, and no app can listen before it.
  private var unheard: [SyncEvent] = []
  private var isHeard = false
  private static var unheardCapacity: Int { 64 }

  /// A new sequence. It begins with `missed`, and the first one also with the events from before. `onEnd` gets the
  /// number of the sequence.
  mutating func open(
    replaying missed: [SyncEvent], onEnd: @escaping @Sendable (Int) -> Void
  ) -> AsyncStream<SyncEvent> {
    let (stream, continuation) = AsyncStream.makeStream(of: SyncEvent.self)
    let number = next
    next += 1
    continuations[number] = continuation
    continuation.onTermination = { _ in onEnd(number) }
    for event in unheard + missed { continuation.yield(event) }
    unheard = []
    isHeard = true
    return stream
  }

  mutating func send(_ event: SyncEvent) {
    if !isHeard { keep(event) }
    for number in continuations.keys.sorted() { continuations[number]?.yield(event) }
  }

  /// Outcomes are left out: they are in the file until they are confirmed.
  private mutating func keep(_ event: SyncEvent) {
    if case .delivered = event { return }
    if unheard.count == Self.unheardCapacity { unheard.removeFirst() }
    unheard.append(event)
  }

  mutating func close(_ number: Int) { continuations[number] = nil }

  mutating func finish() {
    for number in continuations.keys.sorted() { continuations[number]?.finish() }
    continuations = [:]
  }
}
