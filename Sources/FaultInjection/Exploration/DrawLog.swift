import Foundation

/// One random number that a world drew.
package struct Draw: Sendable, Hashable {
  /// Whose it is: `network`, `machine 2`.
  package var stream: String
  /// Which of its stream it is, from 1.
  package var number: Int
  /// Which event of the run drew it, from 1; 0: before the first one.
  package var event: Int
  /// Virtual time, in milliseconds since the beginning of the world.
  package var at: Int64
  /// All of it.
  package var bits: UInt64
  /// How many values there were to choose from; nil for all that 64 bits have.
  package var bound: Int?

  package init(stream: String, number: Int, event: Int, at: Int64, bits: UInt64, bound: Int?) {
    (self.stream, self.number, self.event) = (stream, number, event)
    (self.at, self.bits, self.bound) = (at, bits, bound)
  }

  /// What became of it: 0 or more, less than `bound`.
  package var value: UInt64 {
    bound.map { RandomStream.reduced(bits, below: $0) } ?? bits
  }
}

/// Everything that a world draws, in order, for whoever compares two runs of one seed. Nobody pays for it otherwise: a
/// stream without a log counts, and no more.
package final class DrawLog: Sendable {
  private let keepsDraws: Bool
  private let hasOwnRandomness: Bool
  private let lock = NSLock()
  private nonisolated(unsafe) var all: [Draw] = []
  private nonisolated(unsafe) var moment: (event: Int, at: Int64) = (0, 0)

  /// - Parameters:
  ///   - keepsDraws: Whether they are wanted later.
  ///   - hasOwnRandomness: A planted bug, for tests of those who look for it: from `ownFrom` on, what the network draws
  ///     depends on how this process seeds its hashing.
  package init(keepsDraws: Bool = true, hasOwnRandomness: Bool = false) {
    self.keepsDraws = keepsDraws
    self.hasOwnRandomness = hasOwnRandomness
  }

  /// The first draw of the network that the planted bug changes.
  package static let ownFrom = 17

  /// In the order in which they were drawn.
  package var draws: [Draw] { lock.withLock { unsafe all } }

  /// What is drawn from now on belongs to this event.
  func begin(event: Int, at now: Int64) { lock.withLock { unsafe moment = (event, now) } }

  fileprivate func drew(_ bits: inout UInt64, _ stream: String, _ number: Int, _ bound: Int?) {
    if hasOwnRandomness, stream == "network", number >= Self.ownFrom {
      var hasher = Hasher()
      hasher.combine(number)
      bits ^= UInt64(truncatingIfNeeded: hasher.finalize())
    }
    guard keepsDraws else { return }
    let drawn = bits
    lock.withLock {
      let (event, at) = unsafe moment
      unsafe all.append(
        Draw(stream: stream, number: number, event: event, at: at, bits: drawn, bound: bound))
    }
  }

  /// For one stream.
  func tap(_ name: StaticString, _ number: Int) -> DrawTap {
    DrawTap(self, number == 0 ? name.description : "\(name) \(number + 1)")
  }
}

/// A log, and the stream that is written down in it.
final class DrawTap: Sendable {
  private let log: DrawLog
  private let stream: String

  fileprivate init(_ log: DrawLog, _ stream: String) { (self.log, self.stream) = (log, stream) }

  func drew(_ bits: inout UInt64, _ number: Int, _ bound: Int?) { log.drew(&bits, stream, number, bound) }
}
