package import PurchaseQueue

/// A client's rule for when to send, against the simulated backend. One value serves the whole fleet; what a device
/// remembers is in its `State`, kept small because there are a million of them. Times are milliseconds from the
/// beginning of the run.
package protocol FleetPolicy: Sendable {
  associatedtype State: BitwiseCopyable & Sendable

  /// The state of a device that has not sent anything.
  var fresh: State { get }
  /// The device has bought something. Returns when it sends.
  func purchased(_ state: inout State, now: Int64, using random: inout RandomSource) -> Int64
  /// The app is opened while a purchase is pending. `due` is the planned attempt; nil where there is none.
  func opened(_ state: inout State, due: Int64?, now: Int64, using random: inout RandomSource) -> Int64?
  /// A person who waits taps to try again.
  func tapped(_ state: inout State, due: Int64?, now: Int64, using random: inout RandomSource) -> Int64?
  /// It is time. Nil: the request goes out. Otherwise what happens instead.
  func admit(_ state: inout State, now: Int64, using random: inout RandomSource) -> FleetNext?
  /// The request failed.
  func failed(
    _ state: inout State, _ failure: FleetFailure, now: Int64, using random: inout RandomSource
  ) -> FleetNext
  /// Whether a request at this moment carries the oldest purchase of the device; it carries all newer ones.
  func carriesOldest(_ state: State, now: Int64) -> Bool
  /// The request was answered. Returns when the device sends what is left, if it did not carry everything.
  func succeeded(_ state: inout State, now: Int64) -> Int64?
}

/// What a device does after a failure.
package enum FleetNext: Sendable, Equatable {
  /// It tries again at this moment.
  case at(Int64)
  /// It waits until the app is opened, or the next purchase.
  case waits
  /// It forgets the purchase.
  case drops
}

/// Why a request failed.
package enum FleetFailure: Sendable, Equatable {
  /// No answer came.
  case silence
  /// The overloaded backend refused it: status 503, with a Retry-After in milliseconds if it gives one.
  case busy(retryAfter: Int64?)

  package var retryAfter: Int64? {
    if case .busy(let asked) = self { asked } else { nil }
  }
}

extension FleetPolicy {
  /// Most clients send at once when the app is opened.
  package func opened(
    _ state: inout State, due: Int64?, now: Int64, using random: inout RandomSource
  ) -> Int64? { now }

  /// Most clients do the same as when the app is opened.
  package func tapped(
    _ state: inout State, due: Int64?, now: Int64, using random: inout RandomSource
  ) -> Int64? { opened(&state, due: due, now: now, using: &random) }

  package func admit(_ state: inout State, now: Int64, using random: inout RandomSource) -> FleetNext? { nil }

  package func carriesOldest(_ state: State, now: Int64) -> Bool { true }
}
