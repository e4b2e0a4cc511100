public import Foundation
public import PurchaseQueue

/// An order in the device's journal, committed before the payment sheet is shown.
public struct Order: Sendable, Hashable {
  /// The app's order number.
  public var number: String
  /// To be passed to the store with the payment.
  public var accountToken: UUID
  /// Who is buying.
  public var account: String
  /// What is to be bought.
  public var productID: String
  /// How many.
  public var quantity: Int
  /// Where it stands, as far as the device knows.
  public var state: OrderState
  /// When the backend made it, by the backend's clock.
  public var createdAt: Timestamp
  /// When the backend will no longer wait for a payment, by its clock; nil if it says nothing of it.
  public var expiresAt: Timestamp?
}

extension Order {
  init(_ document: OrderDocument, account: String) {
    self.init(
      number: document.number, accountToken: document.accountToken, account: account,
      productID: document.productID, quantity: document.quantity, state: document.state,
      createdAt: document.createdAt, expiresAt: document.expiresAt)
  }
}
