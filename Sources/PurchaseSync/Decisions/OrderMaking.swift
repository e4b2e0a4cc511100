/// How the order of a purchase is made: by the backend or by the device, and what of the backend's answers is accepted.
///
/// ```
///                backendOnly, backendFirst
///   (policy) ────────────────────────────▶ ask ─── stored ──▶ (the backend's order)
///      │                                   │ ▲│
///      │                     taken, or not │ ││ failed, or taken
///      │                     open          └─┘│ eight times
///      │ deviceOnly                           ├───────────────▶ fail
///      │                                      │ backendFirst, and there was no answer
///      └─────────────────────▶ make ◀─────────┘
/// ```
///
/// A person who gave up buys nothing, and a backend that refuses is obeyed: the device makes an order only where the
/// backend said nothing.
struct OrderMaking: Hashable {
  enum Step: Hashable {
    /// Ask the backend, for so long at most; nil: as long as a request may take. → `wasTaken`, `failed`, or the end
    case ask(within: Duration?)
    /// The device makes the order.
    case make
    case fail(SyncError)
  }

  private(set) var step: Step
  private let policy: OrderPolicy
  private var requests = 0

  /// The most requests for one order.
  static var mostRequests: Int { 8 }

  init(_ policy: OrderPolicy) {
    self.policy = policy
    step =
      switch policy {
      case .backendOnly: .ask(within: nil)
      case .backendFirst(let limit): .ask(within: limit)
      case .deviceOnly: .make
      }
  }

  /// Another process took the order of a request that both found unanswered, or an order whose answer was lost has
  /// expired: another one is asked for. `isGivenUp`: the caller was cancelled, or the engine ends.
  mutating func wasTaken(isGivenUp: Bool) {
    requests += 1
    guard requests == Self.mostRequests else { return }
    failed(
      .backendUnreachable(reason: "each order that was made is taken by another process, or is not open"),
      isGivenUp: isGivenUp)
  }

  /// The request brought no order.
  mutating func failed(_ error: SyncError, isGivenUp: Bool) {
    if case (.backendFirst, .backendUnreachable, false) = (policy, error, isGivenUp) {
      step = .make
    } else {
      step = .fail(error)
    }
  }

  // MARK: Answers

  /// Whether the order with which the backend answered is open. Throws if it cannot be paid. `objection`: why it cannot be
  /// the account's order, as far as is known on this device.
  static func check(
    _ document: OrderDocument, for wish: OrderWish, objection: () throws(SyncError) -> String?
  ) throws(SyncError) -> Bool {
    guard document.productID == wish.product, document.quantity == wish.quantity else {
      throw .backendUnreachable(reason: "it made an order for something else than was asked for")
    }
    guard document.state == .open else { return false }
    if let reason = try objection() { throw .orderUnusable(reason: reason) }
    return true
  }

  /// Whether a request that ended so is over: the answer would stay the same. Otherwise the next call continues it.
  static func isFinal(_ error: SyncError) -> Bool {
    switch error {
    case .backendRefused, .orderUnusable: true
    default: false
    }
  }
}
