import PurchaseSync
import PurchaseSyncTesting

extension BrokenBackend {
  /// Bugs about a parent's withdrawn consent.
  static let consent: [BrokenBackend] = [
    BrokenBackend(
      "consent-takes-back", "a withdrawn consent takes back what was paid",
      hooks: BrokenHooks(before: { mock, call in
        guard try notice(in: call, mock)?.type == "RESCIND_CONSENT" else { return nil }
        try write(mock) { model in
          model.credits.map { .reversal(Reversal(transaction: $0.transaction, at: call.now)) }
        }
        return nil
      })),
    BrokenBackend(
      "consent-unread", "a notification of a withdrawn consent is refused",
      hooks: BrokenHooks(before: { mock, call in
        guard try notice(in: call, mock)?.type == "RESCIND_CONSENT" else { return nil }
        throw HTTPProblem.invalid("notificationType: unknown")
      })),
  ]
}
