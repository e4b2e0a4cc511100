public import Foundation
package import PurchaseQueue

/// A payment at the store.
public struct StorePayment: Sendable, Hashable, Codable {
  /// The product.
  public var productID: String
  /// How many; of a subscription, how many seats it is to have in all.
  public var quantity = 1
  /// The account token, which the transaction returns.
  public var accountToken: UUID?
  /// The Apple ID that pays.
  public var storeAccount: String
  /// How the transaction is delivered; nil for the store's present `delivery`.
  public var delivery: StoreDelivery?
  /// The run of the app that pays. Another run may get the transaction without its token.
  public var launch: String?
}

extension StoreModel {
  /// Charges a store account and keeps the transaction until it is finished.
  ///
  /// An owned non-consumable is not charged again: the earlier transaction is returned. A subscription whose change of
  /// plan waits for the renewal returns its present transaction. Throws `waits` if an approval is needed; see
  /// ``purchase(_:now:)``.
  package mutating func pay(
    product productID: String, quantity: Int, accountToken: UUID?, storeAccount: String,
    delivery: StoreDelivery? = nil, launch: String? = nil, now: Timestamp
  ) throws(StoreModelError) -> StoreTransactionRecord {
    let payment = StorePayment(
      productID: productID, quantity: quantity, accountToken: accountToken, storeAccount: storeAccount,
      delivery: delivery, launch: launch)
    switch try purchase(payment, now: now) {
    case .purchased(let record): return record
    case .waits(let request): throw .waits(request.id)
    }
  }

  /// The product of a payment that the store accepts now. Throws the reason of a refusal.
  func check(_ payment: StorePayment) throws(StoreModelError) -> StoreProduct {
    guard !payment.storeAccount.isEmpty else { throw .noStoreAccount }
    guard let product = products[payment.productID], !withdrawn.contains(product.id) else {
      throw .unknownProduct(payment.productID)
    }
    // "The default value is 1, the minimum value is 1, and the maximum value is 10" (SKMutablePayment.quantity).
    let most =
      switch product.kind {
      case .consumable, .nonRenewing: 10
      case .autoRenewable where product.invitations != nil: Self.mostSeats
      default: 1
      }
    let allowed = 1...most
    guard allowed.contains(payment.quantity) else {
      throw .invalidQuantity(payment.quantity, productID: payment.productID)
    }
    return product
  }

  /// Charges now, without an approval.
  mutating func charge(
    _ payment: StorePayment, offerCode: String? = nil, now: Timestamp
  ) throws(StoreModelError) -> StoreTransactionRecord {
    advance(to: now)
    let product = try check(payment)
    if product.kind == .nonConsumable, let owned = owned(product.id, by: payment.storeAccount) {
      return owned
    }
    if faults.repeatsTransactions, product.kind == .consumable,
      let earlier = unfinished(storeAccount: payment.storeAccount).last(where: { $0.productID == product.id })
    {
      return earlier
    }
    guard account(payment.storeAccount).billingWorks else { throw .paymentDeclined }
    var draft = draft(of: product, payment, now: now)
    draft.offerCode = offerCode
    if offerCode != nil { draft.price = product.price.map { _ in 0 } }
    if product.kind.isBundle { return try sell(product, draft, payment, now: now) }
    if let plan = pace.plan(of: product) { return try subscribe(to: plan, draft, payment, now: now) }
    let record = append(draft)
    settle(record, payment, now: now)
    note(.bought, record.transactionID, now: now)
    return record
  }

  /// Records a charge for the launch, the receipt and the family.
  mutating func settle(_ record: StoreTransactionRecord, _ payment: StorePayment, now: Timestamp) {
    if let launch = payment.launch { payingLaunches[record.transactionID] = launch }
    updateReceipt(with: record, now: now)
    share(record, now: now)
  }

  func draft(
    of product: StoreProduct, _ payment: StorePayment, now: Timestamp
  ) -> StoreTransactionRecord {
    var draft = StoreTransactionRecord(
      transactionID: "", storeAccount: payment.storeAccount, productID: product.id, kind: product.kind,
      quantity: payment.quantity, accountToken: payment.accountToken, purchasedAt: now,
      environment: environment, delivery: payment.delivery ?? delivery)
    draft.groupID = product.groupID
    draft.invitations = product.invitations
    draft.price = product.price.map { price in
      // A price that no store has would overflow; it counts as unknown.
      let (total, overflow) = price.multipliedReportingOverflow(by: Int64(payment.quantity))
      return overflow ? price : total
    }
    return draft
  }

  func owned(_ productID: String, by storeAccount: String) -> StoreTransactionRecord? {
    (log.accounts[storeAccount] ?? []).lazy.map { log[$0] }
      .first { $0.productID == productID && !$0.isTakenBack && $0.cause != .restore }
  }
}
