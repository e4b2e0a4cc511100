/// What keeps a purchase from being delivered now. A purchase without an obstacle is *able*: it can be delivered.
package struct Obstacles: OptionSet, Hashable, Sendable {
  package let rawValue: UInt16
  package init(rawValue: UInt16) { self.rawValue = rawValue }

  /// A request does not reach the backend, or its answer does not come back; also a request that left before and is lost.
  package static let network = Obstacles(rawValue: 1)
  /// The backend answers wrongly, or not at all.
  package static let backend = Obstacles(rawValue: 2)
  /// The app is not in front: closed, in the background, or another process works in its place.
  package static let background = Obstacles(rawValue: 4)
  /// The account of the purchase has no credentials that the backend takes.
  package static let credentials = Obstacles(rawValue: 8)
  /// A Retry-After of the backend is open.
  package static let askedToWait = Obstacles(rawValue: 16)
  /// The queue has no capacity for it.
  package static let capacity = Obstacles(rawValue: 32)
  /// The store does not list it for the Apple ID that is signed in.
  package static let unlisted = Obstacles(rawValue: 64)
  /// The backend rejects it, or fails at a request that holds it or its neighbours in the lane.
  package static let refused = Obstacles(rawValue: 128)
  /// A function of the app does not return.
  package static let callbacks = Obstacles(rawValue: 256)
  /// The storage fails.
  package static let storage = Obstacles(rawValue: 512)
}

/// How long a purchase that is able may take, in milliseconds.
package struct DeliveryBounds: Hashable, Sendable {
  /// From a wake on: the network is back, the app comes to the front, a person signs in or asks.
  package var afterWake: Int64 = 60_000
  /// Without one: what the retry policy promises.
  package var alone: Int64

  package init(alone: Int64) { self.alone = alone }
}

/// By when something that is able has to be delivered. Times are milliseconds of a clock that is never set.
///
/// The first wake counts, not the last: a person who taps again and again does not give the app more time.
package struct DeliveryDeadline: Hashable, Sendable {
  /// Since when there is no obstacle; nil while there is one.
  package private(set) var ableSince: Int64?
  /// The first wake since then; nil for none.
  package private(set) var wokenAt: Int64?
  /// What the requests took that others had before it since then.
  private var spent: Int64 = 0

  package init() {}

  /// To be called whenever an obstacle may have come or gone.
  package mutating func observe(_ obstacles: Obstacles, at now: Int64) {
    if !obstacles.isEmpty {
      (ableSince, wokenAt, spent) = (nil, nil, 0)
    } else if ableSince == nil {
      ableSince = now
    }
  }

  /// A wake. It counts only if nothing stands in the way: `observe` comes first.
  package mutating func woken(at now: Int64) {
    if ableSince != nil, wokenAt == nil { wokenAt = now }
  }

  /// A request was about others, and took so long at most: what is behind them comes after it.
  package mutating func wentOn(for milliseconds: Int64) {
    if ableSince != nil { spent += milliseconds }
  }

  /// By when something is delivered that came at `arrival`, and of which the backend asked to wait until `floor`; nil if
  /// there is an obstacle. An arrival is a wake of its own.
  package func due(_ bounds: DeliveryBounds, arrival: Int64 = .min, floor: Int64 = .min) -> Due? {
    guard let ableSince else { return nil }
    if floor > max(ableSince, arrival, wokenAt ?? .min) {
      return Due(at: floor + bounds.alone + spent, since: floor, isWoken: false)
    }
    if arrival >= ableSince {
      return Due(at: arrival + bounds.afterWake + spent, since: arrival, isWoken: true)
    }
    if let wokenAt {
      return Due(at: wokenAt + bounds.afterWake + spent, since: wokenAt, isWoken: true)
    }
    return Due(at: ableSince + bounds.alone + spent, since: ableSince, isWoken: false)
  }

  /// The earliest moment at which anything can be late; nil if there is an obstacle.
  package func earliest(_ bounds: DeliveryBounds) -> Int64? {
    ableSince.map { (wokenAt ?? $0) + min(bounds.afterWake, bounds.alone) }
  }

  /// A moment, and what it follows from.
  package struct Due: Hashable, Sendable {
    package var at: Int64
    package var since: Int64
    /// Whether it follows a wake.
    package var isWoken: Bool
  }
}
