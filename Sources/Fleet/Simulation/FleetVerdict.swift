/// A result in words: whether a backend survives this policy, and what its users see.
package struct FleetVerdict: Sendable, Equatable {
  package enum Kind: String, Sendable, Encodable, CaseIterable {
    /// Drains, within one and a half times the capacity, with at most 1.2 requests per purchase.
    case calm
    /// Drains, with more load than that.
    case drains
    /// The overload goes on although its cause is gone.
    case metastable
    /// Purchases wait for people to open the app.
    case waits
    /// Purchases are forgotten.
    case loses
    /// Less than the whole run is known.
    case undecided
  }

  package let kind: Kind
  package let words: String

  package static let calmPeak = 1.5
  package static let calmAmplification = 1.2
  /// The most that 99 % may take, as a multiple of what the capacity allows.
  package static let promptTime = 2.5
  /// The part of user requests that Netflix reports as served under prioritised load shedding.
  package static let servedNew = 0.994

  package init(_ result: FleetResult) {
    kind = Self.kind(of: result)
    var sentence =
      switch kind {
      case .calm: "calm: the backend is never far over its capacity, and everything is delivered"
      case .drains: "drains, but the backend gets more load than it can serve"
      case .metastable: "metastable: retries keep the backend overloaded after the fault is over"
      case .waits: "waits: \(result.pending) purchases are pending until people open the app"
      case .loses: "loses \(result.dropped) purchases: the client forgets them"
      case .undecided: "undecided: the run was interrupted"
      }
    if let served = result.newServedWithinMinute, kind != .undecided {
      sentence +=
        served >= Self.servedNew
        ? "; new purchases are served meanwhile" : "; new purchases suffer meanwhile"
    }
    words = sentence
  }

  private static func kind(of result: FleetResult) -> Kind {
    if result.wasInterrupted { return .undecided }
    if result.dropped > 0 { return .loses }
    if !result.drains { return result.peakOverCapacity > 1 ? .metastable : .waits }
    let isCalm = result.peakOverCapacity <= calmPeak && result.amplification <= calmAmplification
    return isCalm ? .calm : .drains
  }
}
