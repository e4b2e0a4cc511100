/// One thing that people, phones or fate do to a world, at its moment: what a schedule is made of, and what a failure
/// is shrunk to.
package enum Act: Sendable {
  /// Somebody buys.
  case buy(Buying)
  /// Something goes wrong for a while. `phone` is -1 for all.
  case fault(Fault, phone: Int, milliseconds: Int64, permille: Int)
  /// So many of the next writes of a phone's storage fail.
  case storageFault(StorageFault, phone: Int, after: Int, count: Int)
  /// A process is killed so many effects (writes, actions) from now; it is launched again after a while.
  case kill(phone: Int, effects: Int, downFor: Int64)
  /// All processes of a phone die at once; it is off for a while.
  case powerLoss(phone: Int, downFor: Int64)
  /// The phone's clock is set.
  case clock(phone: Int, by: Int64)
  /// Who uses the app on a phone from now on; -1 for nobody. The one before signs out, or stays signed in.
  case user(phone: Int, account: Int, othersStay: Bool)
  /// Another Apple ID on a phone.
  case appleID(phone: Int, storeAccount: Int)
  /// The app is deleted and installed again.
  case reinstall(phone: Int)
  /// A backup of a phone is made.
  case takeImage(phone: Int)
  /// The phone is set back to its last backup.
  case restoreImage(phone: Int)
  /// An account claims what the device bought.
  case claim(phone: Int)
  /// The store gives money back for what was bought by that act.
  case refund(purchase: Int)
  /// It takes that back.
  case reverseRefund(purchase: Int)
  /// The next period of a subscription is charged; or another plan replaces this period.
  case renew(purchase: Int, isUpgrade: Bool)
  /// The store hands over what is unfinished, on its own.
  case redeliver(phone: Int)
  /// Foreground, network back, or a user who asks.
  case wake(phone: Int, reason: Int)
  /// To the background for a while.
  case park(phone: Int, milliseconds: Int64)
  /// A second process on the same storage for a while.
  case extensionRuns(phone: Int, milliseconds: Int64)
  /// The backend is backed up; it is restored from its last backup.
  case backup
  case restoreBackup
}

/// What somebody buys, and how that comes to the app.
package struct Buying: Sendable {
  /// Why an entry can never be delivered until somebody repairs something.
  package enum Poison: UInt8, Sendable {
    case none
    /// The backend dies of every request that holds it.
    case crashes
    /// The backend rejects it.
    case rejected
    /// The backend never says anything about it.
    case unanswered
  }

  package var phone: Int
  package var product: Int
  /// Whether the app made an order before.
  package var hasOrder: Bool
  /// The old interface: without its token when it is handed over again.
  package var forgetsToken: Bool
  /// What proves it: the app receipt, its own signature, or both.
  package var proofs: ProofMix
  /// Ask to Buy, or an interrupted purchase: charged so much later; 0 for at once, -1 for never.
  package var waits: Int64
  package var poison: Poison

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

/// An act and its moment, in milliseconds since the beginning of its world.
package struct PlannedAct: Sendable {
  package var at: Int64
  package var act: Act

  package init(at: Int64, act: Act) { (self.at, self.act) = (at, act) }
}
