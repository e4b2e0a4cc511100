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
  /// How many units.
  public var quantity: Int
  /// The order's state, as far as the device knows.
  public var state: OrderState
  /// When it was made, by the backend's clock. An order that the device made has the device's time until the backend has
  /// heard of it.
  public var createdAt: Timestamp
  /// When the backend stops waiting for a payment, by its clock; nil if the backend gave no end.
  public var expiresAt: Timestamp?
  /// The value that the app gave at `begin`.
  public var context: PurchaseContext?
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
    let told: OrderState =
      switch state {
      case .cancelled, .alreadyOwned: .cancelled
      case .deferred: .deferred
      // Whether it was paid is for the claim of its transaction to say.
      default: .open
      }
    return DeviceOrder(
      number: number, accountToken: accountToken, account: account, productID: productID, quantity: quantity,
      state: told, createdAt: createdAt)
  }
}
