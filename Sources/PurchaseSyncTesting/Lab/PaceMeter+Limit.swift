import PurchaseSync
import VirtualTime

extension PaceMeter.Kind {
  private static let limits = PaceLimits()

  /// The most within a minute, by the documented policy.
  var limit: Int {
    switch self {
    case .upload: Self.limits.uploads
    case .store: Self.limits.storeCalls
    case .request: Self.limits.requests
    case .fulfil: Self.limits.fulfilments
    case .credentials: Self.limits.questions
    }
  }
}
