/// One step of the protocol, as an observer of all parties sees it. Transactions, devices, processes and requests are
/// numbers.
package enum ProtocolStep: Sendable {
  // MARK: The store

  /// The store has charged for a transaction. Its token names an account's order, or none; `original` is the first
  /// transaction of its subscription, or itself.
  case paid(Int, for: Int?, original: Int)
  /// The store takes the money back, or gives it again.
  case refunded(Int, Bool)
  /// The store refunds some units of the transaction: the others are paid.
  case partlyRefunded(Int)
  /// The store hands the transaction to a device: when it was paid, at each launch until it is finished, and when a person
  /// restores purchases.
  case arrives(Int, at: Int)

  // MARK: A device

  /// An entry is durable in the queue of the device.
  case queued(Int, on: Int, in: Party)
  /// A process sends a request in the name of a party: the lane of its entries.
  case sends(Int, by: Int, on: Int, as: Party, [Claim])
  /// The process has the answer.
  case hears(Int)
  /// The process gives the request up, or was informed of a failure.
  case ends(Int)
  /// The verdict on a transaction is durable, and its entry is gone: one commit.
  case settled(Int, on: Int, Word)
  /// An entry is taken out of the queue: support staff discard it, or it only asked about a settled transaction.
  case removed(Int, on: Int, isGivenUp: Bool)
  /// The record of a settled transaction is dropped after its duties are done.
  case forgotten(Int, on: Int)
  /// The app learns of the outcome.
  case told(Int, on: Int, Word)
  /// The device calls `finish`. The store may take it late, or not at all.
  case finishes(Int, by: Int)

  // MARK: The backend

  case receives(Int)
  /// A line of the ledger is durable, because of a request; nil for the store's own notification.
  case credited(Int, to: Party, Int?)
  case answers(Int, [(transaction: Int, word: Word)])
  /// The backend calls `finish` at the store.
  case finishedByBackend(Int)
  /// An account takes what a device bought.
  case adopted(device: Int, by: Int)
  /// The ledger is that of a backup, with these transactions.
  case ledgerRestored([Int])

  // MARK: What happens to devices

  case launched(Int, on: Int, holding: [Int: Party])
  case died(Int)
  /// The app is deleted and installed again. What its vault has comes back at the next launch.
  case reinstalled(Int)
  case backedUp(Int)
  case setBack(Int)
  /// A phone begins with a copy of another one's file.
  case copied(to: Int, from: Int)

  /// Who owns a credit, and in whose name a request is sent.
  package enum Party: Hashable, Sendable {
    case account(Int)
    case device(Int)
    /// A lane only: an account's question about a purchase of the device, which the device sends in its own name.
    case question(Int)

    package var isDevice: Bool { if case .device = self { true } else { false } }
  }

  /// What an upload says about one transaction.
  package struct Claim: Sendable {
    package var transaction: Int
    /// Whether a proof comes with it. Without one the backend asks the store by id.
    package var isProven: Bool
    /// Whether the proof, or the store's answer, has the account token.
    package var tellsToken: Bool
    /// The accounts whose orders it names: the bound one, or the candidates.
    package var accounts: [Int]

    package init(transaction: Int, isProven: Bool, tellsToken: Bool, accounts: [Int]) {
      (self.transaction, self.isProven) = (transaction, isProven)
      (self.tellsToken, self.accounts) = (tellsToken, accounts)
    }
  }

  /// The backend's word about one claim.
  package enum Word: String, Sendable {
    // These settle the claim.
    case granted, duplicate, otherOwner, refunded, lapsed
    // These do not.
    case pending, rejected, unknownTransaction
    /// A word of another version of the protocol.
    case other

    package var isAboutCredit: Bool { [.granted, .duplicate, .otherOwner].contains(self) }
    package var settles: Bool { isAboutCredit || self == .refunded || self == .lapsed }
  }
}
