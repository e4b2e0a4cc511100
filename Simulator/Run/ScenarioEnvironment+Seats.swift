import PurchaseQueue
import PurchaseSyncTesting
import ScenarioFormat

extension ScenarioEnvironment {
  /// What happens with the seats of a subscription.
  static func change(
    _ step: SeatStep, _ store: inout StoreModel, now: Timestamp
  ) throws(StoreModelError) {
    switch step {
    case .assigned(let number, let member, let carriesToken):
      _ = try store.assignSeat(of: charge(number, store), to: member, carriesToken: carriesToken, now: now)
    case .taken(let number, let member):
      try store.unassignSeat(of: charge(number, store), from: member, now: now)
    case .refunded(let number, let count):
      _ = try store.refundSeats(transactionID: charge(number, store), count, now: now)
    case .renewing(let number, let count):
      try store.setRenewalSeats(count, transactionID: charge(number, store), now: now)
    }
  }
}
