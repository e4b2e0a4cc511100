import PurchaseSync

/// What became of the purchases: the counts by which a run is judged, taken from the world's own log.
public struct WorldTally: Sendable, Hashable, Codable {
  /// Charged transactions that were not settled as `refunded` or `lapsed`.
  public var paid: Int
  /// Those of them with at least one credit in the present ledger.
  public var granted: Int
  /// Paid, not credited, but unfinished in the store or kept on a device.
  public var pending: Int
  /// Paid, not credited, and nowhere left that could bring it back.
  public var lost: Int
  /// Credits beyond one per transaction, and orders fulfilled twice.
  public var doubled: Int
  /// Credits that are another account's than the order's.
  public var wrongAccount: Int
  /// Still unfinished in the store.
  public var unfinished: Int
  /// How often a person was asked for a password.
  public var prompts: Int
  /// How often the transaction that was uploaded most often was uploaded.
  public var mostUploads: Int

  /// Counts. `kept` are the ids of the transactions in the queues and vaults of all devices.
  public init(_ world: WorldSnapshot, kept: Set<String> = []) {
    let over = Set(
      world.verdicts.filter { $0.verdict == .refunded || $0.verdict == .lapsed }.map(\.transactionID))
    let charged = world.charges.filter { !over.contains($0.transactionID) }
    let credited = Set(world.credits.map(\.transaction.transactionID))
    let open = charged.filter { !credited.contains($0.transactionID) }
    paid = charged.count
    granted = charged.count - open.count
    pending = open.count { !$0.isFinished || kept.contains($0.transactionID) }
    lost = open.count - pending
    doubled = world.doubledCredits
    wrongAccount = world.misplacedCredits.count
    unfinished = world.charges.count { !$0.isFinished }
    prompts = world.prompts
    mostUploads = world.uploads.values.max() ?? 0
  }

  /// Paid = granted, and nothing lost, doubled, pending or misplaced.
  public var isClean: Bool {
    paid == granted && lost == 0 && doubled == 0 && pending == 0 && wrongAccount == 0
  }
}

extension WorldSnapshot {
  /// The credits that an account has, and that another account's order paid for.
  ///
  /// Whose order that is, the store knows best: by the account token that came with the payment, also where the app
  /// and the backend never saw it. Only without one the order counts that the credit names. What a device holds is
  /// nobody's yet.
  public var misplacedCredits: [Credit] {
    let tokens = Dictionary(
      charges.map { ($0.transactionID, $0.accountToken) }, uniquingKeysWith: { first, _ in first })
    let byToken = Dictionary(orders.map { ($0.accountToken, $0) }, uniquingKeysWith: { first, _ in first })
    let byNumber = Dictionary(orders.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
    return zip(credits, creditOwners).filter { credit, owner in
      guard case .account(let account) = owner else { return false }
      let token = tokens[credit.transaction.transactionID] ?? nil
      let order = token.flatMap { byToken[$0] } ?? credit.orderNumber.flatMap { byNumber[$0] }
      return order.map { $0.account != account } ?? false
    }.map(\.0)
  }
}
