public import Foundation
public import PurchaseQueue

/// A purchase that somebody has begun and nobody has paid yet.
public struct PurchaseRequest: Sendable, Hashable {
  /// Why nothing is charged yet.
  public enum Origin: String, Sendable, Hashable, Codable {
    /// Somebody else has to agree (Ask to Buy): the app was told *pending*.
    case askToBuy
    /// The store asked for something first, such as new terms: the app was told that it failed, and the purchase can
    /// go through outside of it.
    case interrupted
    /// Begun on the app's page in the store: the app pays it, now or later, or does not.
    case promoted
  }

  /// Where it stands.
  public enum State: Sendable, Hashable, Codable {
    /// Nothing decided.
    case waiting
    /// Charged, as this transaction.
    case approved(transactionID: String)
    /// Nothing will be charged, and the app hears nothing of it.
    case declined
  }

  /// Unique within its store.
  public var id: String
  /// What is to be paid.
  public var payment: StorePayment
  /// Why nothing is charged yet.
  public var origin: Origin
  /// When somebody began it.
  public var requestedAt: Timestamp
  /// Where it stands.
  public var state = State.waiting
}

/// What came of the payment sheet.
public enum StorePurchase: Sendable, Hashable {
  /// Charged; or owned before, and then the transaction is the earlier one.
  case purchased(StoreTransactionRecord)
  /// Not charged. The transaction comes among the unfinished ones if the request is approved, perhaps days later.
  case waits(PurchaseRequest)
}

extension StoreModel {
  /// The payment sheet, confirmed: charges, or waits for what the store account's settings demand.
  public mutating func purchase(
    _ payment: StorePayment, now: Timestamp
  ) throws(StoreModelError) -> StorePurchase {
    advance(to: now)
    _ = try check(payment)
    let account = account(payment.storeAccount)
    if account.asksToBuy { return .waits(request(payment, .askToBuy, now: now)) }
    if account.interruptedPurchases > 0 {
      accounts[payment.storeAccount]?.interruptedPurchases -= 1
      return .waits(request(payment, .interrupted, now: now))
    }
    return .purchased(try charge(payment, now: now))
  }

  /// Somebody taps the product on the app's page in the store. The app pays it with
  /// ``approve(requestID:accountToken:now:)``.
  public mutating func promote(
    product productID: String, storeAccount: String, now: Timestamp
  ) throws(StoreModelError) -> PurchaseRequest {
    let payment = StorePayment(productID: productID, storeAccount: storeAccount)
    _ = try check(payment)
    return request(payment, .promoted, now: now)
  }

  /// Charges a purchase that waits: a parent agrees, the terms are accepted, the app goes on with a promoted one.
  ///
  /// The app need not run. `accountToken` is for a promoted purchase, whose payment is the app's own. Charging can still
  /// fail, and then the request goes on waiting; once approved, it answers with its transaction.
  @discardableResult
  public mutating func approve(
    requestID: String, accountToken: UUID? = nil, now: Timestamp
  ) throws(StoreModelError) -> StoreTransactionRecord {
    let index = try requestIndex(requestID)
    switch requests[index].state {
    case .approved(let transactionID): return transactions[try position(of: transactionID)]
    case .declined: throw .unknownRequest(requestID)
    case .waiting: break
    }
    var payment = requests[index].payment
    payment.accountToken = payment.accountToken ?? accountToken
    let record = try charge(payment, now: now)
    requests[index].state = .approved(transactionID: record.transactionID)
    return record
  }

  /// Ends a purchase that waits. One that was approved stays as it is.
  public mutating func decline(requestID: String) throws(StoreModelError) {
    let index = try requestIndex(requestID)
    if requests[index].state == .waiting { requests[index].state = .declined }
  }

  /// Redeems an offer code in the store's own app: a purchase without an account token, for nothing.
  ///
  /// A subscriber keeps the present period; renewal is turned on, and the backend hears of the offer.
  @discardableResult
  public mutating func redeem(
    offerCode: String, product productID: String, storeAccount: String, now: Timestamp
  ) throws(StoreModelError) -> StoreTransactionRecord {
    let payment = StorePayment(productID: productID, storeAccount: storeAccount)
    advance(to: now)
    let product = try check(payment)
    if let groupID = product.groupID,
      let original = groupLives[GroupMember(storeAccount: storeAccount, groupID: groupID)],
      let life = lives[original], life.isEntitled, life.plan.productID == productID,
      let record = latest(of: original)
    {
      turnRenewal(on: true, of: original, now: now)
      note(.offerRedeemed, record.transactionID, now: now)
      return record
    }
    return try charge(payment, offerCode: offerCode, now: now)
  }

  private mutating func request(
    _ payment: StorePayment, _ origin: PurchaseRequest.Origin, now: Timestamp
  ) -> PurchaseRequest {
    let request = PurchaseRequest(
      id: "request-\(requests.count + 1)", payment: payment, origin: origin, requestedAt: now)
    requests.append(request)
    return request
  }

  private func requestIndex(_ id: String) throws(StoreModelError) -> Int {
    guard let index = requests.firstIndex(where: { $0.id == id }) else { throw .unknownRequest(id) }
    return index
  }
}
