import PurchaseQueue
import PurchaseSQLite

/// Sends each event to every sequence that is being listened to. Each sequence is bounded: what an app must not miss, its
/// outcomes, is in the file. Those that a slow reader made the buffer drop are published again as soon as it has read half
/// of what waits for it.
///
/// An outcome is published once to each sequence, and once more if it changes. The engine may be suspended in between.
struct EventStreams {
  /// One sequence, and the outcomes that it has received.
  private struct Listener {
    var continuation: AsyncStream<SyncEvent>.Continuation
    let flow: EventFlow
    var published: [Outcome.Name: Outcome.Mark] = [:]

    func knows(_ outcome: Outcome) -> Bool { published[outcome.name] == outcome.mark }

    mutating func keep(_ names: Set<Outcome.Name>) { published = published.filter { names.contains($0.key) } }
  }

  private var listeners: [Int: Listener] = [:]
  private var next = 0
  /// The latest events from before the first listener. The start emits events, and no app can listen before it.
  private var undelivered: [SyncEvent] = []
  private var isHeard = false
  private static var undeliveredCapacity: Int { 64 }
  /// The most events that wait for one listener. Then the oldest are dropped and counted.
  static var capacity: Int { 1_024 }
  /// Events that a listener did not take in time.
  private(set) var dropped = 0
  /// Why lanes wait, as it was published last.
  private(set) var reasons: [Lane: String] = [:]

  /// A new sequence. It begins with `missed`, and the first one also with the events from before. `onEnd` gets the
  /// number of the sequence, and `onRoom` too when outcomes were dropped and there is capacity for them again.
  mutating func open(
    replaying missed: [Outcome], onEnd: @escaping @Sendable (Int) -> Void,
    onRoom: @escaping @Sendable (Int) -> Void
  ) -> AsyncStream<SyncEvent> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: SyncEvent.self,
      bufferingPolicy: .bufferingNewest(max(Self.capacity, missed.count + Self.undeliveredCapacity))
    )
    let number = next
    next += 1
    continuation.onTermination = { _ in onEnd(number) }
    for event in undelivered { continuation.yield(event) }
    for outcome in missed { continuation.yield(SyncEvent(publishing: outcome)) }
    let flow = EventFlow(waiting: undelivered.count + missed.count)
    listeners[number] = Listener(
      continuation: continuation, flow: flow,
      published: Dictionary(missed.map { ($0.name, $0.mark) }) { _, later in later })
    undelivered = []
    isHeard = true
    return AsyncStream {
      var events = stream.makeAsyncIterator()
      let event = await events.next()
      if flow.took() { onRoom(number) }
      return event
    }
  }

  /// Sends an event. False if it is an outcome that each listener knows.
  @discardableResult
  mutating func send(_ event: SyncEvent) -> Bool {
    if case .waiting(let lane, let reason, _) = event { reasons[lane] = reason }
    if !isHeard { keep(event) }
    var isNews = listeners.isEmpty
    for number in listeners.keys.sorted() where !isKnown(event, to: number) {
      isNews = true
      if let outcome = event.outcome { listeners[number]?.published[outcome.name] = outcome.mark }
      yield(event, to: number)
    }
    return isNews
  }

  private func isKnown(_ event: SyncEvent, to number: Int) -> Bool {
    guard let outcome = event.outcome else { return false }
    return listeners[number]?.knows(outcome) == true
  }

  /// Of the outcomes that are not confirmed: those that a listener has not received, that changed since, or that were
  /// dropped.
  mutating func unpublished(_ outcomes: [Outcome]) -> [Outcome] {
    let names = Set(outcomes.map(\.name))
    for number in listeners.keys { listeners[number]?.keep(names) }
    return outcomes.filter { outcome in listeners.values.contains { !$0.knows(outcome) } }
  }

  /// Those of them that one listener does not know, as many as there is capacity for.
  func unpublished(_ outcomes: [Outcome], to number: Int) -> [Outcome] {
    guard let listener = listeners[number] else { return [] }
    let unknown = outcomes.filter { !listener.knows($0) }
    let room = max(0, Self.capacity - listener.flow.waiting)
    if unknown.count > room { listener.flow.fellBehind() }
    return Array(unknown.prefix(room))
  }

  /// Remembers nothing of an outcome any more. If it is not confirmed, it is published again.
  mutating func forget(_ outcome: Outcome) {
    for number in listeners.keys { listeners[number]?.published[outcome.name] = nil }
  }

  /// An outcome that is dropped is published again by the next announcement.
  private mutating func yield(_ event: SyncEvent, to number: Int) {
    guard let listener = listeners[number] else { return }
    guard case .dropped(let lost) = listener.continuation.yield(event) else { return listener.flow.sent() }
    dropped += 1
    guard let outcome = lost.outcome, listener.knows(outcome) else { return }
    listeners[number]?.published[outcome.name] = nil
    listener.flow.fellBehind()
  }

  /// Outcomes are left out: they are in the file until they are confirmed.
  private mutating func keep(_ event: SyncEvent) {
    if event.outcome != nil { return }
    if undelivered.count == Self.undeliveredCapacity { undelivered.removeFirst() }
    undelivered.append(event)
  }

  mutating func close(_ number: Int) { listeners[number] = nil }

  mutating func finish() {
    for number in listeners.keys.sorted() { listeners[number]?.continuation.finish() }
    listeners = [:]
  }
}

/// How many events wait for one reader, and whether it has missed outcomes. The engine and the reader change it.
final class EventFlow: Sendable {
  private let state: Locked<(waiting: Int, isBehind: Bool)>

  init(waiting: Int) { state = Locked((waiting, false)) }

  var waiting: Int { state.value.waiting }

  func sent() { state.withLock { $0.waiting += 1 } }

  /// Outcomes were dropped.
  func fellBehind() { state.withLock { $0.isBehind = true } }

  /// The reader took an event. True if there is capacity for the outcomes that it has missed.
  func took() -> Bool {
    state.withLock { state in
      state.waiting = max(0, state.waiting - 1)
      guard state.isBehind, state.waiting <= EventStreams.capacity / 2 else { return false }
      state.isBehind = false
      return true
    }
  }
}
