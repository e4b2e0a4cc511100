/// One thing that people, phones or chance do in a run. A schedule consists of acts, and a failure is shrunk to a few.
package enum Act: Sendable {
  /// A purchase.
  case buy(Buying)
  /// So many payment sheets are opened and closed: orders without a payment.
  case dismissSheets(phone: Int, product: Int, count: Int)
  /// The app confirms no outcome until the faults end.
  case neverConfirm(phone: Int)
  /// The app's `fulfil` fails for a while.
  case fulfilFails(phone: Int, milliseconds: Int64)
  /// A fault that lasts for a while. `phone` is -1 for all.
  case fault(Fault, phone: Int, milliseconds: Int64, permille: Int)
  /// `count` writes of a phone's storage fail, after `after` others.
  case storageFault(StorageFault, phone: Int, after: Int, count: Int)
  /// A process is killed after `effects` further effects (writes, actions) and launched again after a while.
  case kill(phone: Int, effects: Int, downFor: Int64)
  /// All processes of a phone die at once; it is off for a while.
  case powerLoss(phone: Int, downFor: Int64)
  /// The phone's clock is set.
  case clock(phone: Int, by: Int64)
  /// Another user of the app on a phone; -1 for none. The former one signs out, or stays signed in.
  case user(phone: Int, account: Int, othersStay: Bool)
  /// Another Apple ID on a phone.
  case appleID(phone: Int, storeAccount: Int)
  /// The app is deleted and installed again.
  case reinstall(phone: Int)
  /// A backup of a phone is made.
  case takeImage(phone: Int)
  /// The phone is set back to its last backup.
  case restoreImage(phone: Int)
  /// An account adopts the purchases of the device.
  case claim(phone: Int)
  /// The store refunds the purchase of that act.
  case refund(purchase: Int)
  /// The store reverses the refund.
  case reverseRefund(purchase: Int)
  /// The next period of a subscription is charged; or another plan replaces this period.
  case renew(purchase: Int, isUpgrade: Bool)
  /// The store delivers its unfinished transactions.
  case redeliver(phone: Int)
  /// Foreground, network back, or a user who asks.
  case wake(phone: Int, reason: Int)
  /// The app goes to the background for a while.
  case suspend(phone: Int, milliseconds: Int64)
  /// A second process on the same storage for a while.
  case extensionRuns(phone: Int, milliseconds: Int64)
  /// The backend is backed up; it is restored from its last backup.
  case backup
  case restoreBackup
  /// A person taps 'restore purchases': the store hands over everything that its receipt holds, without tokens.
  case restore(phone: Int)
  /// The user of a phone buys a subscription of its Apple ID again, with an order of their own.
  case resubscribe(purchase: Int, phone: Int)
  /// An offer code is redeemed on a phone: a purchase without token and order.
  case offerCode(phone: Int)
  /// A bundle of two subscriptions is bought with an order.
  case bundle(phone: Int)
  /// The Apple ID of a phone gets a seat of a subscription that another account has ordered and paid.
  case seat(phone: Int)
  /// An act that only the engine's simulation has, by name.
  case other(String)

  /// A purchase without anything unusual.
  static let purchase = Act.buy(
    Buying(
      phone: 0, product: 0, hasOrder: true, forgetsToken: false, proofs: .signed, waits: 0, poison: .none))
}

/// A purchase, and how the app learns of it.
package struct Buying: Sendable {
  /// Why an entry cannot be delivered before a repair.
  package enum Poison: UInt8, Sendable {
    case none
    /// The backend crashes at every request that holds it.
    case crashes
    /// The backend rejects it.
    case rejected
    /// The backend never gives a verdict about it.
    case unanswered
  }

  package var phone: Int
  package var product: Int
  /// Whether the app made an order first.
  package var hasOrder: Bool
  /// The old interface: a redelivery comes without the token.
  package var forgetsToken: Bool
  /// The proof: the app receipt, the signed transaction, or both.
  package var proofs: ProofMix
  /// Ask to Buy, or an interrupted purchase: the delay of the charge in milliseconds; 0 for none, -1 for never charged.
  package var waits: Int64
  package var poison: Poison
  /// The sheet says cancelled, and the charge comes all the same, after `waits`.
  package var isCancelled = false

  package enum ProofMix: UInt8, Sendable {
    case signed, receipt, both
  }

  package init(
    phone: Int, product: Int, hasOrder: Bool, forgetsToken: Bool, proofs: ProofMix, waits: Int64,
    poison: Poison
  ) {
    (self.phone, self.product, self.hasOrder) = (phone, product, hasOrder)
    (self.forgetsToken, self.proofs, self.waits, self.poison) = (forgetsToken, proofs, waits, poison)
  }
}

/// An act and its moment, in milliseconds since the beginning of its simulation.
package struct PlannedAct: Sendable {
  package var at: Int64
  package var act: Act

  package init(at: Int64, act: Act) { (self.at, self.act) = (at, act) }
}
