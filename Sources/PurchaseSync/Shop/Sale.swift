public import Foundation

/// How a call of ``Shop/purchase(_:quantity:for:context:isAnother:sheet:)`` ended.
@nonexhaustive
public enum Sale: Sendable, Hashable {
  /// The backend has credited the purchase, and the shop's `fulfil` has returned for it.
  case delivered(Outcome)
  /// The user owned the product before, and this account has it. Nothing was charged.
  case alreadyOwned(Outcome)
  /// The purchase gives this account nothing, or not all: it was refunded, or a part of it (``Outcome/unitsHeld``), its
  /// period is over, or it is another account's.
  case settled(Outcome)
  /// The purchase goes on without the caller. Its outcome comes to `fulfil`, perhaps in a later launch.
  case pending(Wait)
  /// A change of the subscription: the store answered with the plan that runs, and this one follows it. Nothing is charged
  /// before. The renewal comes to `fulfil` like every other.
  case scheduled(product: String, from: Date)
  /// The sheet was closed. No payment is known; one may still complete later, and is delivered all the same.
  case cancelled
  /// Refused before the payment. Nothing was charged.
  case refused(SyncError)

  /// What a purchase waits for.
  @nonexhaustive
  public enum Wait: Sendable, Hashable {
    /// Another person (Ask to Buy) or the bank has to agree. Nothing is charged before.
    case approval
    /// Not known to be paid: the sheet is still open, and its caller has gone away; the shop was closed; or the store
    /// answered with a purchase that is over. If it is paid, it is delivered.
    case payment
    /// Paid. The backend has not answered yet, or `fulfil` has failed and is tried again.
    case delivery
    /// Paid. The account has no credentials now, or they were refused.
    case signIn
    /// Paid. The backend does not accept the purchase as it is. It is kept; support finds it by its case file.
    case support
  }
}

extension Sale {
  /// Whether the account has now what it wanted to buy.
  public var isFulfilled: Bool {
    switch self {
    case .delivered, .alreadyOwned: true
    default: false
    }
  }

  /// A text that an app can show: what happened, and what about the money. It names no account.
  public var message: String {
    switch self {
    case .delivered: "Thank you. Your purchase is complete."
    case .alreadyOwned: "You own this already. Nothing was charged."
    case .settled(let outcome) where outcome.owner == .another: "This purchase belongs to another account."
    case .settled(let outcome) where outcome.verdict == .refunded:
      outcome.partText.map { $0 + " You have the rest." } ?? "This purchase was refunded."
    case .settled: "This purchase is over."
    case .scheduled: "Your plan changes when the present one ends. Nothing is charged before."
    case .pending(.approval): "Your purchase waits for approval. Nothing is charged before."
    case .pending(.payment): "Your purchase is not decided yet. If you pay, you will receive it."
    case .pending(.delivery): "Your payment is safe. Your purchase is on its way."
    case .pending(.signIn): "Your payment is safe. Sign in to receive your purchase."
    case .pending(.support): "Your payment is safe, but your purchase needs our help. Contact support."
    case .cancelled: "The purchase was closed. If it was paid all the same, you will receive it."
    case .refused(let error):
      [error.errorDescription, "Nothing was charged.", error.recoverySuggestion].compactMap(\.self)
        .joined(separator: " ")
    }
  }

  /// As the shop answers with an outcome.
  init(_ outcome: Outcome) {
    self =
      if outcome.owner == .another || !outcome.isFulfilled {
        .settled(outcome)
      } else if outcome.isAlreadyOwned {
        .alreadyOwned(outcome)
      } else {
        .delivered(outcome)
      }
  }
}
