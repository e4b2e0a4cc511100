import PurchaseQueue

/// Sends each event to every sequence that is being listened to. Each sequence is bounded: what an app must not miss, its
/// outcomes, is in the file and told again.
struct EventStreams {
  private var continuations: [Int: AsyncStream<SyncEvent>.Continuation] = [:]
  private var next = 0
  /// The latest events from before the first listener. The start emits events, and no app can listen before it.
  private var unheard: [SyncEvent] = []
  private var isHeard = false
  private static var unheardCapacity: Int { 64 }
  /// The most events that wait for one listener. Then the oldest are dropped and counted.
  static var capacity: Int { 1_024 }
  /// Events that a listener did not take in time.
  private(set) var dropped = 0
  /// Outcomes that every listener was told of since it opened its sequence.
  private var told: Set<EntryKey> = []

  /// A new sequence. It begins with `missed`, and the first one also with the events from before. `onEnd` gets the
  /// number of the sequence.
  mutating func open(
    replaying missed: [SyncEvent], onEnd: @escaping @Sendable (Int) -> Void
  ) -> AsyncStream<SyncEvent> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: SyncEvent.self,
      bufferingPolicy: .bufferingNewest(max(Self.capacity, missed.count + Self.unheardCapacity))
    )
    let number = next
    next += 1
    continuations[number] = continuation
    continuation.onTermination = { _ in onEnd(number) }
    for event in unheard + missed { continuation.yield(event) }
    if number == continuations.keys.min() { told.formUnion(missed.compactMap(\.outcome?.key)) }
    unheard = []
    isHeard = true
    return stream
  }

  mutating func send(_ event: SyncEvent) {
    if !isHeard { keep(event) }
    if case .delivered(let outcome) = event, !continuations.isEmpty { told.insert(outcome.key) }
    for number in continuations.keys.sorted() { yield(event, to: number) }
  }

  /// Tells of outcomes that are not confirmed and that no listener was told of, or that were dropped.
  mutating func announce(_ outcomes: [Outcome]) -> [SyncEvent] {
    told.formIntersection(outcomes.map(\.key))
    return outcomes.filter { !told.contains($0.key) }.map { .delivered($0) }
  }

  /// An outcome that is dropped is told again by the next `announce`.
  private mutating func yield(_ event: SyncEvent, to number: Int) {
    guard case .dropped(let lost)? = continuations[number]?.yield(event) else { return }
    dropped += 1
    if case .delivered(let outcome) = lost { told.remove(outcome.key) }
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

extension SyncEvent {
  fileprivate var outcome: Outcome? {
    if case .delivered(let outcome) = self { outcome } else { nil }
  }
}
