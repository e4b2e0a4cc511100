import Foundation
import PurchaseSQLite
import Testing

/// An actor with an executor of its own, as the actors that own a connection.
private actor Resident {
  private let executor = BlockingExecutor(label: "test.resident")
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  private(set) var log: [Int] = []
  private var running = 0

  func append(_ value: Int) { log.append(value) }

  /// Makes all calls before the first one runs.
  func appendLater(_ values: Range<Int>) async {
    let calls = values.map { value in Task { self.append(value) } }
    for call in calls { await call.value }
  }

  /// Blocks its thread until all have arrived; false after a timeout.
  func meet(_ meeting: Meeting) -> Bool { meeting.arriveAndWait() }

  func overlap() -> Bool {
    running += 1
    defer { running -= 1 }
    // Long enough for another call to come in between.
    for _ in 0..<20 { sched_yield() }
    return running > 1
  }
}

/// Releases all waiting threads when the last one has arrived.
private final class Meeting: Sendable {
  private let guests: Int
  private let arrivals = DispatchGroup()

  init(guests: Int) {
    self.guests = guests
    for _ in 0..<guests { arrivals.enter() }
  }

  func arriveAndWait() -> Bool {
    arrivals.leave()
    return arrivals.wait(timeout: .now() + .seconds(300)) == .success
  }
}

@Suite struct BlockingExecutorTests {
  @Test
  func `Actors that wait for the disk do not use up the cooperative pool`() async {
    // Many more than the pool has threads: on the pool they would wait for each other without end.
    let guests = 64
    let meeting = Meeting(guests: guests)
    let met = await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<guests {
        group.addTask { await Resident().meet(meeting) }
      }
      return await group.reduce(into: 0) { count, arrived in count += arrived ? 1 : 0 }
    }
    #expect(met == guests)
  }

  @Test func `Calls of one caller run in the order in which they were made`() async {
    let resident = Resident()
    await resident.appendLater(0..<1_000)
    #expect(await resident.log == Array(0..<1_000))
  }

  @Test func `Calls of many callers never overlap`() async {
    let resident = Resident()
    let overlaps = await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<500 {
        group.addTask { await resident.overlap() }
      }
      return await group.contains(true)
    }
    #expect(!overlaps)
  }

  @Test func `An actor keeps its executor alive while calls are under way`() async {
    // The only reference to the actor ends with the call.
    for value in 0..<200 { await Resident().append(value) }
  }
}
