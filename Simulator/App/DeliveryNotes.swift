import Foundation
import PurchaseSync

/// What the simulated app notes for the measurement of its promptness: a line of standard output each, which the parent
/// reads (`DeliveryWatch`).
enum DeliveryNote: Equatable {
  /// A retry delay of the app passed. `seconds` is its length in production.
  case waited(from: Double, to: Double, seconds: Double)
  /// From now on other purchases can be delivered than before: somebody signed in, or the network is back.
  case changed(at: Double)

  private static let mark = "delivery-note"

  /// The system's uptime, the same clock in every process.
  static var now: Double { ProcessInfo.processInfo.systemUptime }

  var line: String {
    switch self {
    case .waited(let from, let to, let seconds): "\(Self.mark) waited \(from) \(to) \(seconds)"
    case .changed(let at): "\(Self.mark) changed \(at)"
    }
  }

  /// Nil for any other line.
  init?(line: String) {
    let words = line.split(separator: " ")
    guard words.count > 2, words[0] == Self.mark else { return nil }
    let numbers = words.dropFirst(2).compactMap { Double($0) }
    switch (words[1], numbers.count) {
    case ("waited", 3): self = .waited(from: numbers[0], to: numbers[1], seconds: numbers[2])
    case ("changed", 1): self = .changed(at: numbers[0])
    default: return nil
    }
  }

  /// The delays of the simple apps pass at this pace, whatever the scenario's is.
  static let simplePace = 1_000.0

  /// The pause of a simple app between two attempts.
  static func pause(_ length: Duration) async throws {
    let start = now
    try await Task.sleep(for: length)
    let seconds = Double(length.components.attoseconds) / 1e18 + Double(length.components.seconds)
    Terminal.line(waited(from: start, to: start + seconds, seconds: seconds * simplePace).line)
  }
}

extension SystemDependencies {
  /// The system's own. Each delay that ends by itself is noted with its length in production.
  static func noting(timeScale: Int64) -> SystemDependencies {
    var system = live
    let sleep = system.sleep
    system.sleep = { milliseconds in
      let start = DeliveryNote.now
      try await sleep(milliseconds)
      let length = Double(milliseconds) / 1_000
      let note = DeliveryNote.waited(from: start, to: start + length, seconds: length * Double(timeScale))
      Terminal.line(note.line)
    }
    return system
  }
}
