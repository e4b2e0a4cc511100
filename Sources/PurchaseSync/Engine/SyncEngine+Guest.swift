import AppStoreReceipts
import Foundation
import PurchaseQueue

/// Sales without an order in the journal: to a guest, and of an offer code.
extension SyncEngine {
  /// The order of a sale. Only that of an account is stored.
  func order(for wish: OrderWish, _ kind: SaleKind) async throws(SyncError) -> PurchaseOrder {
    switch kind {
    case .order:
      return try await begin(wish)
    case .guest:
      try requireCapacity(for: wish)
      return unstored(wish, "guest-", token: .guest(from: configuration.system.uuid()))
    case .redemption:
      try requireCapacity(for: wish)
      let order = unstored(wish, "code-", token: configuration.system.uuid())
      decisions.sheets.openRedemption(order.number, for: order.account)
      return order
    }
  }

  /// Throws if there is no capacity for one more purchase, before there is a payment.
  private func requireCapacity(for wish: OrderWish) throws(SyncError) {
    try wish.checkQuantity()
    let (name, now) = ("trial-" + configuration.system.uuid().uuidString, configuration.now())
    try withFile { (file) throws(QueueError) in
      try file.queue.transaction { () throws(QueueError) in
        try file.queue.reserve(name, until: now.adding(milliseconds: 1_000), displacing: true, now: now)
        try file.queue.cancelReservation(name)
      }
    }
  }

  private func unstored(_ wish: OrderWish, _ prefix: String, token: UUID) -> PurchaseOrder {
    PurchaseOrder(
      number: prefix + configuration.system.uuid().uuidString, accountToken: token, account: wish.account,
      productID: wish.product, quantity: wish.quantity, state: .open, createdAt: configuration.now())
  }

  // MARK: Approvals

  /// A guest's payment waits for an approval. Throws if the file fails: then a screen does not show it.
  func deferPayment(ofGuest order: PurchaseOrder) throws(SyncError) {
    try withFile { (file) throws(QueueError) in try file.changeGuestApprovals { $0.begin(order) } }
  }

  /// Takes what a guest's sheet has returned. An approval of the same product is no longer waited for.
  func receive(_ transaction: StoreTransaction, ofGuest order: PurchaseOrder) throws(SyncError) {
    // Of a bundle, no source says that what the sheet returns has the guest's token.
    let lacksToken = transaction.accountToken == nil && transaction.bundle != nil
    try receive(transaction, storeAccount: nil, user: lacksToken ? AppUser.none : nil)
    listBundle(of: transaction)
    // The payment is stored. A screen shows the earlier one for a week at most.
    reporting { () throws(SyncError) in
      try withFile { (file) throws(QueueError) in
        try file.changeGuestApprovals { $0.end(product: order.productID) }
      }
    }
  }

  /// Guests' payments that wait for an approval, as orders without an account.
  func guestApprovals() throws(SyncError) -> [PurchaseOrder] {
    try withFile { (file) throws(QueueError) in try file.guestApprovals() }
  }

  // MARK: Offer codes

  /// The sheet has ended.
  func endRedemption(_ number: String) { decisions.sheets.endRedemption(number) }

  /// Takes what a code has given to the account that redeemed it.
  func receive(_ transaction: StoreTransaction, redeemedFor account: String) throws(SyncError) {
    try receive(
      transaction, storeAccount: nil, user: AppUser(account: account, policy: .signedInAccount))
    listBundle(of: transaction)
  }

  /// For whom a purchase is that names no owner: of a code, for the account whose sheet is open.
  func user(of transaction: StoreTransaction) -> AppUser {
    decisions.sheets.user(of: transaction, user)
  }

  // MARK: Known before

  /// The outcome of a transaction that is settled, for the buyer to whom the store has answered with it.
  func earlierOutcome(of key: EntryKey, for order: PurchaseOrder) throws(SyncError) -> Outcome? {
    let account = order.accountToken.isGuest ? nil : order.account
    return try withFile { (file) throws(QueueError) in
      guard try file.queue.entry(key) == nil, let tombstone = try file.queue.tombstone(key) else {
        return nil
      }
      return try file.outcome(tombstone).addressed(toBuyer: account, isEarlier: true)
    }
  }
}
