/// What a server does with a request of which it has the head only.
package enum HTTPAdmission: Sendable, Equatable {
  /// Read the body, at most so many bytes of it; a longer one is answered 413.
  case read(upTo: Int)
  /// The same, but a longer body gets this answer.
  case readOrRefuse(upTo: Int, HTTPResponse)
}

/// The bytes that the bodies of all connections may still take.
final class BodyBudget: Sendable {
  /// What a connection may hold without a share of the budget: most requests are no longer.
  static let free = 32 * 1024

  private let left: Monitor<Int>

  init(_ bytes: Int) { left = Monitor(bytes) }

  /// True if the share is the caller's now.
  func take(_ bytes: Int) -> Bool {
    left.withLock { left in
      guard bytes <= left else { return false }
      left -= bytes
      return true
    }
  }

  func give(_ bytes: Int) { left.withLock { $0 += bytes } }
}
