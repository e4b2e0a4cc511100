public import Foundation
public import PurchaseQueue

/// A purchase that was begun and is not paid yet.
public struct PurchaseRequest: Sendable, Hashable, Codable {
  /// The reason for which nothing is charged yet.
  public enum Origin: String, Sendable, Hashable, Codable {
    /// A parent has to approve it (Ask to Buy): the app got *pending*.
    case askToBuy
    /// The store needs another step first, such as new terms. The app got a failure, and the purchase can complete
    /// outside the app.
    case interrupted
    /// The purchase was begun on the app's page in the store. The app may pay it.
    case promoted
  }

  /// Where it stands.
  public enum State: Sendable, Hashable, Codable {
    /// No decision yet.
    case waiting
    /// Charged, as this transaction.
    case approved(transactionID: String)
    /// Nothing will be charged, and the app gets no message.
    case declined
  }

  /// Unique within its store.
  public var id: String
  /// The payment that waits.
  public var payment: StorePayment
  /// The reason for which nothing is charged yet.
  public var origin: Origin
  /// The time at which it was begun.
  public var requestedAt: Timestamp
  /// Where it stands.
  public var state = State.waiting
}

/// The result of the payment sheet.
package enum StorePurchase: Sendable, Hashable {
  /// Charged, or owned before: then the transaction is the earlier one.
  case purchased(StoreTransactionRecord)
  /// Not charged. If the request is approved, perhaps days later, the transaction appears among the unfinished ones.
  case waits(PurchaseRequest)
}

extension StoreModel {
  /// Confirms the payment sheet: charges, or waits for the approval that the account's settings demand.
  package mutating func purchase(
    _ payment: StorePayment, now: Timestamp
  ) throws(StoreModelError) -> StorePurchase {
    advance(to: now)
    _ = try check(payment)
    let account = account(payment.storeAccount)
    if account.asksToBuy { return .waits(request(payment, .askToBuy, now: now)) }
    if account.interruptedPurchases > 0 {
      settings[payment.storeAccount]?.interruptedPurchases -= 1
      return .waits(request(payment, .interrupted, now: now))
    }
    return .purchased(try charge(payment, now: now))
  }

  /// Records a tap on the product on the app's page in the store. The app pays it with
  /// ``approve(requestID:accountToken:now:)``.
  public mutating func promote(
    product productID: String, storeAccount: String, now: Timestamp
  ) throws(StoreModelError) -> PurchaseRequest {
    let payment = StorePayment(productID: productID, storeAccount: storeAccount)
    _ = try check(payment)
    return request(payment, .promoted, now: now)
  }

  /// Charges a waiting purchase: a parent approves, the terms are accepted, or the app pays a promoted one.
  ///
  /// The app need not run. `accountToken` is for a promoted purchase, which the app pays. If the charge fails, the
  /// request keeps waiting. A repeated approval returns the transaction.
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
    requestLog[index].state = .approved(transactionID: record.transactionID)
    return record
  }

  /// Declines a waiting purchase. An approved one does not change.
  public mutating func decline(requestID: String) throws(StoreModelError) {
    let index = try requestIndex(requestID)
    if requests[index].state == .waiting { requestLog[index].state = .declined }
  }

  /// Redeems an offer code in the store's own app: a free purchase without an account token.
  ///
  /// A subscriber keeps the present period. Renewal is turned on, and the backend is notified of the offer.
  @discardableResult
  public mutating func redeem(
    offerCode: String, product productID: String, storeAccount: String, now: Timestamp
  ) throws(StoreModelError) -> StoreTransactionRecord {
    let payment = StorePayment(productID: productID, storeAccount: storeAccount)
    advance(to: now)
    let product = try check(payment)
    if let groupID = product.groupID,
      let original = groupSubscriptions[GroupMember(storeAccount: storeAccount, groupID: groupID)],
      let subscription = subscriptions[original], subscription.isEntitled,
      subscription.plan.productID == productID,
      let record = latest(of: original)
    {
      turnRenewal(on: true, of: original, now: now)
      note(.offerRedeemed(.unchanged), record.transactionID, now: now)
      return record
    }
    return try charge(payment, offerCode: offerCode, now: now)
  }

  private mutating func request(
    _ payment: StorePayment, _ origin: PurchaseRequest.Origin, now: Timestamp
  ) -> PurchaseRequest {
    let request = PurchaseRequest(
      id: "request-\(requests.count + 1)", payment: payment, origin: origin, requestedAt: now)
    requestLog.append(request)
    return request
  }

  private func requestIndex(_ id: String) throws(StoreModelError) -> Int {
    guard let index = requests.firstIndex(where: { $0.id == id }) else { throw .unknownRequest(id) }
    return index
  }
}
