import Foundation
import PurchaseQueue
import PurchaseSQLite

/// The clock of a run, as one of its processes reads it. Store, backend and phones have the same, so that the delays of
/// production pass with their own lengths in less time, and no number of a policy is rounded.
///
/// It is a clock of the work and not of the machine: it stands while an app works or waits for an answer, and between two
/// delays it goes faster than time. See ``RunClock``, which moves it.
final class FastClock: Sendable {
  /// How another process finds it: text on its command line.
  struct Words: Equatable {
    var rate: Int64 = 1
    /// The number of the app; nil for a process that only reads the clock.
    var app: Int?
    var path = ""

    var text: String { "\(rate):\(app.map(String.init) ?? "-"):\(path)" }
  }

  /// How many of its seconds pass in one, at most.
  let rate: Int64
  private let file: ClockFile
  private let app: Int?
  private let state = Locked(State())

  private struct State {
    var requests: Int64 = 0
    /// The ends of the delays that pass now, in milliseconds since 1970.
    var delays: [Int64] = []
  }

  init(_ words: Words) throws {
    (rate, app, file) = (words.rate, words.app, try ClockFile(opening: words.path))
  }

  func now() -> Timestamp { Timestamp(milliseconds: file[.time]) }

  /// Waits until so many of its milliseconds have passed. The clock does not pass the end of the delay before the task
  /// goes on: however late a busy computer wakes it, the delay has its own length.
  func sleep(milliseconds: Int64) async throws {
    guard milliseconds > 0 else { return try Task.checkCancellation() }
    let end = now().adding(milliseconds: milliseconds).milliseconds
    change { $0.delays.append(end) }
    defer {
      change { state in
        if let index = state.delays.firstIndex(of: end) { state.delays.remove(at: index) }
      }
    }
    while case let left = end - file[.time], left > 0 {
      // A process that wakes all the time stops the clock.
      try await Task.sleep(for: .seconds(max(Self.leastPause, Double(left) / 1_000 / Double(rate))))
    }
  }

  /// How many delays pass now.
  var waiting: Int { state.value.delays.count }

  /// In seconds.
  private static let leastPause = 0.003

  /// The clock stands until the answer is here.
  func whileAsking<T, E: Error>(_ body: () async throws(E) -> T) async throws(E) -> T {
    change { $0.requests += 1 }
    defer { change { $0.requests -= 1 } }
    return try await body()
  }

  /// A process that only reads the clock changes nothing for the others.
  private func change(_ body: (inout State) -> Void) {
    guard let app else { return }
    state.withLock { state in
      body(&state)
      file[.requests(app: app)] = state.requests
      file[.delay(app: app)] = state.delays.min() ?? .max
    }
  }
}

extension FastClock.Words {
  /// Nil for text that is not of `text`.
  init?(_ text: String) {
    let parts = text.split(separator: ":", maxSplits: 2).map(String.init)
    guard parts.count == 3, let rate = Int64(parts[0]), rate > 0, !parts[2].isEmpty else { return nil }
    let app = Int(parts[1])
    guard parts[1] == "-" || (app ?? -1) >= 0 else { return nil }
    self.init(rate: rate, app: app, path: parts[2])
  }
}
