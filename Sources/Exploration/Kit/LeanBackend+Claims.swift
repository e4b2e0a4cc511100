import PurchaseSync

/// What a device claims, and what the backend rules on it.
extension LeanBackend {
  struct LeanClaim {
    enum Match: Equatable {
      case bound(Int)
      case proposed([Int])
      case none

      /// The orders that the claim names, the most likely first.
      var numbers: [Int] {
        switch self {
        case .bound(let number): [number]
        case .proposed(let numbers): numbers
        case .none: []
        }
      }

      func names(_ order: Int) -> Bool { numbers.contains(order) }
    }
    var sale: Int
    var match: Match
  }

  enum Ruling: Equatable {
    case granted, duplicate, otherOwner, lapsed, refunded, pending, unknown

    var isSettled: Bool {
      switch self {
      case .granted, .duplicate, .otherOwner, .lapsed, .refunded: true
      case .pending, .unknown: false
      }
    }

    /// The word of the protocol.
    var verdict: Verdict {
      switch self {
      case .granted: .granted
      case .duplicate: .duplicate
      case .otherOwner: .otherOwner
      case .lapsed: .lapsed
      case .refunded: .refunded
      case .pending: .pending
      case .unknown: .unknownTransaction
      }
    }
  }
}
