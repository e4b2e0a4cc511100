import PurchaseSQLite

/// One random number that a simulation drew.
package struct Draw: Sendable, Hashable, Codable {
  /// The name of its stream: `network`, `machine 2`.
  package var stream: String
  /// Its position in the stream, from 1.
  package var number: Int
  /// The event that drew it, from 1; 0: before the first event.
  package var event: Int
  /// Virtual time, in milliseconds since the beginning of the simulation.
  package var at: Int64
  /// All 64 bits.
  package var bits: UInt64
  /// The number of possible values; nil for all values of 64 bits.
  package var bound: Int?

  package init(stream: String, number: Int, event: Int, at: Int64, bits: UInt64, bound: Int?) {
    (self.stream, self.number, self.event) = (stream, number, event)
    (self.at, self.bits, self.bound) = (at, bits, bound)
  }

  /// The number from 0 up to `bound` that the bits give.
  package var value: UInt64 {
    bound.map { RandomStream.reduced(bits, below: $0) } ?? bits
  }
}

/// Records every draw of a run in order, to compare two runs of one seed. A stream without a log only counts.
package final class DrawLog: Sendable {
  private let keepsDraws: Bool
  private let hasOwnRandomness: Bool
  private let state = Locked(State())

  private struct State {
    var draws: [Draw] = []
    /// The event that draws now, and its time.
    var event = 0
    var at: Int64 = 0
  }

  /// - Parameters:
  ///   - keepsDraws: Whether to keep the draws.
  ///   - hasOwnRandomness: A planted bug, for tests of the determinism check: from draw `ownFrom` on, the network's
  ///     numbers depend on how this process seeds its hashing.
  package init(keepsDraws: Bool = true, hasOwnRandomness: Bool = false) {
    self.keepsDraws = keepsDraws
    self.hasOwnRandomness = hasOwnRandomness
  }

  /// The first draw of the network that the planted bug changes.
  package static let ownFrom = 17

  /// In the order of drawing.
  package var draws: [Draw] { state.value.draws }

  /// The next draws belong to this event.
  func begin(event: Int, at now: Int64) { state.withLock { ($0.event, $0.at) = (event, now) } }

  fileprivate func drew(_ bits: inout UInt64, _ stream: String, _ number: Int, _ bound: Int?) {
    if hasOwnRandomness, stream == "network", number >= Self.ownFrom {
      var hasher = Hasher()
      hasher.combine(number)
      bits ^= UInt64(truncatingIfNeeded: hasher.finalize())
    }
    guard keepsDraws else { return }
    let drawn = bits
    state.withLock {
      $0.draws.append(
        Draw(stream: stream, number: number, event: $0.event, at: $0.at, bits: drawn, bound: bound))
    }
  }

  /// For one stream.
  func tap(_ name: StaticString, _ number: Int) -> DrawTap {
    DrawTap(self, number == 0 ? name.description : "\(name) \(number + 1)")
  }
}

/// A log, and a stream that it records.
final class DrawTap: Sendable {
  private let log: DrawLog
  private let stream: String

  fileprivate init(_ log: DrawLog, _ stream: String) { (self.log, self.stream) = (log, stream) }

  func drew(_ bits: inout UInt64, _ number: Int, _ bound: Int?) { log.drew(&bits, stream, number, bound) }
}
