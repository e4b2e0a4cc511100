import PurchaseSync

/// The counts that judge a run, taken from a snapshot of the mock server.
public struct MockTally: Sendable, Hashable, Codable {
  /// Charged transactions that were not settled as `refunded` or `lapsed`, and those of which units are left.
  public var paid: Int
  /// Those of them with at least one credit in the present ledger.
  public var granted: Int
  /// Paid and not credited, but unfinished in the store or stored on a device.
  public var pending: Int
  /// Paid and not credited, with no copy left in the store's unfinished list or on a device.
  public var lost: Int
  /// Credits beyond one per transaction, and orders fulfilled twice.
  public var doubled: Int
  /// Credits of an account that is not the order's account.
  public var wrongAccount: Int
  /// Still unfinished in the store.
  public var unfinished: Int
  /// How many times the person was asked for a password.
  public var prompts: Int
  /// The largest number of uploads of one transaction.
  public var mostUploads: Int

  /// Counts. `kept` are the ids of the transactions in the queues and vaults of all devices.
  public init(_ mock: MockSnapshot, kept: Set<String> = []) {
    // A refund may be reversed, so the last verdict counts.
    let last = Dictionary(
      mock.verdicts.filter(\.verdict.isSettled).map { ($0.transactionID, $0.verdict) },
      uniquingKeysWith: { $1 })
    let over = Set(last.filter { $0.value == .refunded || $0.value == .lapsed }.keys)
    // Of a refund of a part, the rest is paid.
    let charged = mock.charges.filter {
      !over.contains($0.transactionID) || $0.revokedAt != nil && !$0.isTakenBack
    }
    let credited = Set(mock.credits.map(\.transaction.transactionID))
    let open = charged.filter { !credited.contains($0.transactionID) }
    paid = charged.count
    granted = charged.count - open.count
    pending = open.count { !$0.isFinished || kept.contains($0.transactionID) }
    lost = open.count - pending
    doubled = mock.doubledCredits
    wrongAccount = mock.misplacedCredits.count
    unfinished = mock.charges.count { !$0.isFinished }
    prompts = mock.prompts
    mostUploads = mock.uploads.values.max() ?? 0
  }

  /// Whether everything paid is granted, and nothing is lost, doubled, pending or misplaced.
  public var isClean: Bool {
    paid == granted && lost == 0 && doubled == 0 && pending == 0 && wrongAccount == 0
  }
}

extension MockSnapshot {
  /// How many units of a charge the ledger has now: its credits without what a refund takes back. A doubled credit counts
  /// double.
  public func unitsCredited(of transactionID: String) -> Int {
    zip(credits, creditUnits).reduce(0) { sum, credit in
      credit.0.transaction.transactionID == transactionID ? sum + credit.1 : sum
    }
  }

  /// The credited charges of which the ledger has another number of units than is paid and not refunded. Of subscriptions
  /// only seats are counted in units. Empty once the backend knows every refund.
  public var miscounted: [StoreTransactionRecord] {
    let credited = Set(credits.map(\.transaction.transactionID))
    return charges.filter { charge in
      guard charge.expiresAt == nil || charge.invitations != nil, credited.contains(charge.transactionID)
      else { return false }
      return unitsCredited(of: charge.transactionID) != charge.unitsPaid
    }
  }

  /// The credits of an account whose order belongs to another account, and the seats that fulfilled an order, count more
  /// than once, or were credited to their purchaser.
  ///
  /// The account token of the payment identifies the order, also if app and backend never saw the token. Without a
  /// token, the order that the credit names counts. Credits that a device holds belong to no account yet.
  public var misplacedCredits: [Credit] {
    let tokens = Dictionary(
      charges.map { ($0.transactionID, $0.accountToken) }, uniquingKeysWith: { first, _ in first })
    let byToken = Dictionary(orders.map { ($0.accountToken, $0) }, uniquingKeysWith: { first, _ in first })
    let byNumber = Dictionary(orders.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
    let owners = Dictionary(
      zip(credits.map(\.transaction.transactionID), creditOwners), uniquingKeysWith: { first, _ in first })
    return zip(credits, creditOwners).filter { credit, owner in
      if let paid = seats[credit.transaction.transactionID] {
        return credit.orderNumber != nil || credit.quantity > 1 || owners[paid] == owner
      }
      guard case .account(let account) = owner else { return false }
      let token = tokens[credit.transaction.transactionID] ?? nil
      let order = token.flatMap { byToken[$0] } ?? credit.orderNumber.flatMap { byNumber[$0] }
      return order.map { $0.account != account } ?? false
    }.map(\.0)
  }
}
