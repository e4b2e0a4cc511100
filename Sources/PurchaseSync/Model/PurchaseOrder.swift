public import Foundation
public import PurchaseQueue

/// An order in the device's journal, committed before the payment sheet is shown.
public struct PurchaseOrder: Sendable, Hashable {
  /// The app's order number.
  public var number: String
  /// The UUID to pass to the store with the payment.
  public var accountToken: UUID
  /// The account that buys.
  public var account: String
  /// The product to buy.
  public var productID: String
  /// How many units; of a subscription, how many seats it is to have in all.
  public var quantity: Int
  /// The order's state, as far as the device knows.
  public var state: OrderState
  /// When it was made, by the backend's clock. An order that the device made has the device's time until the backend has
  /// learned of it.
  public var createdAt: Timestamp
  /// When the backend stops waiting for a payment, by its clock; nil if the backend gave no end.
  public var expiresAt: Timestamp?
  /// What the app gave at `begin`.
  var note = OrderNote()
  /// The value that the app gave at `begin`.
  public var context: PurchaseContext? { note.context }
}

extension PurchaseOrder {
  init(_ document: OrderDocument, account: String) {
    self.init(
      number: document.number, accountToken: document.accountToken, account: account,
      productID: document.productID, quantity: document.quantity, state: document.state,
      createdAt: document.createdAt, expiresAt: document.expiresAt)
  }

  /// Whether it was made more than a day after this moment: the device's clock went back, or is wrong.
  func isFromTheFuture(_ now: Timestamp) -> Bool { createdAt > now.adding(milliseconds: 86_400_000) }

  /// The order as its device registers it.
  var asDeviceOrder: DeviceOrder {
    let published: OrderState =
      switch state {
      case .cancelled, .alreadyOwned: .cancelled
      case .deferred: .deferred
      // Whether it was paid is for the claim of its transaction to say.
      default: .open
      }
    return DeviceOrder(
      number: number, accountToken: accountToken, account: account, productID: productID, quantity: quantity,
      state: published, createdAt: createdAt)
  }
}

/// Where an order is made.
public enum OrderPolicy: Sendable, Hashable {
  /// The backend makes each order: nothing can be bought without it. The default, because a backend can then refuse a
  /// sale before the payment.
  case backendOnly
  /// The backend is asked first. If it does not answer within this time, the device makes the order, and registers it
  /// with the upload or as soon as the backend is back. A backend that refuses is obeyed.
  case backendFirst(timeLimit: Duration)
  /// The device makes each order, and registers it later.
  case deviceOnly
}

/// The result of asking the store for a payment. Hand it to ``SyncEngine/receive(_:for:)-(PurchaseResult,_)`` at once; the engine finishes the
/// transaction.
public enum PurchaseResult: Sendable, Hashable {
  /// The store has a transaction for the user: a new one, or the earlier one of a product that the user owns already.
  case purchased(StoreTransaction)
  /// The payment waits for approval by another person (Ask to Buy) or by the bank. If it is approved, the
  /// transaction comes with the store's updates, perhaps days later. The order stays open until then.
  case pending
  /// The sheet was closed. No payment is known, and one may still complete later: with some banks the user confirms it
  /// in another app. The order stays matchable.
  case cancelled
}
