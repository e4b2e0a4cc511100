import Foundation
import PurchaseSQLite
import PurchaseSync

/// What the simulated app notes for the measurement of its promptness: a line of standard output each, which the parent
/// reads (`DeliveryWatch`).
enum DeliveryNote: Equatable {
  /// A retry delay of the app passed. `seconds` is its length in production.
  case waited(from: Double, to: Double, seconds: Double)
  /// From now on other purchases can be delivered than before: somebody signed in, or the network is back.
  case changed(at: Double)
  /// The app works at something: no delay holds it up.
  case worked(at: Double)

  private static let mark = "delivery-note"

  /// The system's uptime, the same clock in every process.
  static var now: Double { FastClock.uptime }

  var line: String {
    switch self {
    case .waited(let from, let to, let seconds): "\(Self.mark) waited \(from) \(to) \(seconds)"
    case .changed(let at): "\(Self.mark) changed \(at)"
    case .worked(let at): "\(Self.mark) worked \(at)"
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
    case ("worked", 1): self = .worked(at: numbers[0])
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

/// Notes that the app works, twice in a millisecond at most.
final class WorkNotes: Sendable {
  private let last = Locked(0.0)

  func note() {
    let now = DeliveryNote.now
    let isNews = last.withLock { last in
      guard now - last >= 0.000_5 else { return false }
      last = now
      return true
    }
    if isNews { Terminal.line(DeliveryNote.worked(at: now).line) }
  }
}

extension SystemDependencies {
  /// The system's own, at the pace of a clock. Time limits are real. Each delay that ends by itself is noted with its length
  /// in production: the delay of a timer, and not how late a busy computer fires it.
  static func noting(_ clock: FastClock) -> SystemDependencies {
    var system = live
    let begin = ContinuousClock.now
    system.uptime = { begin.advanced(by: begin.duration(to: .now) * clock.rate) }
    system.sleep = { milliseconds in
      let (start, length) = (DeliveryNote.now, clock.realSeconds(of: milliseconds))
      try await Task.sleep(for: .seconds(length))
      let seconds = Double(milliseconds) / 1_000
      Terminal.line(DeliveryNote.waited(from: start, to: start + length, seconds: seconds).line)
    }
    return system
  }
}
