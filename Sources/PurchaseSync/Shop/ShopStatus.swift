public import Foundation
import PurchaseQueue

/// What a "your purchases" screen shows.
public struct ShopStatus: Sendable, Hashable {
  /// What was ordered on this device, and what is on its way, newest first. Orders that were cancelled or have expired are
  /// left out. What a restore has delivered is not listed: your backend knows what each account has.
  public var purchases: [Item]
  /// Why the shop cannot work; nil if it works. Each call tries again.
  public var problem: SyncError?
  /// The error of `fulfil` for the oldest outcome that is not fulfilled, as domain and code, for logs; or that a call of
  /// `fulfil` is late. Nil if none has failed. The shop calls it again by itself.
  public var fulfilmentProblem: String?
  /// Calls of `fulfil`, the sheet, the credentials, the store and the backend that have not returned within their time
  /// limits, oldest first. Everything else goes on without them. For logs and support.
  public var lateCalls: [LateCall]
  /// How many outcomes this installation has let go because too many waited for `fulfil`: see
  /// ``SyncSnapshot/outcomesForgotten``. Your backend knows what each account has: read it again.
  public var outcomesForgotten: Int

  /// A status, for an app's own previews and tests.
  public init(
    purchases: [Item] = [], problem: SyncError? = nil, fulfilmentProblem: String? = nil,
    lateCalls: [LateCall] = [], outcomesForgotten: Int = 0
  ) {
    self.purchases = purchases
    self.problem = problem
    self.fulfilmentProblem = fulfilmentProblem
    self.lateCalls = lateCalls
    self.outcomesForgotten = outcomesForgotten
  }

  /// One purchase.
  public struct Item: Sendable, Hashable, Identifiable {
    /// The order's number, or the transaction's key if it has no order.
    public var id: String
    /// The product; nil if the stored details are damaged.
    public var productID: String?
    /// How many units; nil with the product.
    public var quantity: Int?
    /// The account; nil for a purchase of the device. Show each person only his own.
    public var account: String?
    /// How far it is.
    public var stage: Stage
    /// When the order was made, by the backend's clock, or the purchase, by the store's.
    public var date: Date

    /// An item, for an app's own previews and tests.
    public init(
      id: String, productID: String?, quantity: Int? = 1, account: String?, stage: Stage, date: Date
    ) {
      self.id = id
      self.productID = productID
      self.quantity = quantity
      self.account = account
      self.stage = stage
      self.date = date
    }
  }

  /// How far a purchase is.
  @nonexhaustive
  public enum Stage: String, Sendable, Hashable, CaseIterable {
    /// Another person or the bank has to agree. Nothing is charged before. The store does not say if the answer is no: it
    /// is listed until the order's time is over, for a week at most, and not after a later purchase of the same product.
    case waitingForApproval
    /// Paid, and on its way to the backend or to the app.
    case onItsWay
    /// Done.
    case delivered
    /// It was delivered, and the store has refunded it since.
    case refunded
    /// It was delivered, and the store has refunded some of its units since.
    case partlyRefunded
    /// Paid. The account has to sign in.
    case needsSignIn
    /// Paid. The backend does not accept the purchase as it is. It is kept and tried daily.
    case needsSupport

    /// A text that an app can show.
    public var text: String {
      switch self {
      case .waitingForApproval: "Waiting for approval"
      case .onItsWay: "Paid, on its way"
      case .delivered: "Delivered"
      case .refunded: "Refunded"
      case .partlyRefunded: "Partly refunded"
      case .needsSignIn: "Paid. Sign in to receive it"
      case .needsSupport: "Paid. Contact support to receive it"
      }
    }
  }
}

extension ShopStatus {
  /// `guests`: payments without an account that wait for an approval.
  init(
    _ snapshot: SyncSnapshot, _ orders: [PurchaseOrder], guests: [PurchaseOrder] = [], now: Timestamp
  ) {
    let signedOut = Set(snapshot.lanes.filter { $0.state == .signInNeeded }.map(\.lane))
    let byNumber = Dictionary(orders.map { ($0.number, $0) }) { first, _ in first }
    var items: [String: Item] = [:]
    for (place, order) in orders.enumerated() {
      let stage: Stage? =
        switch order.state {
        case .deferred: order.mayBeApproved(before: orders[(place + 1)...], now) ? .waitingForApproval : nil
        case .delivered: .delivered
        case .refunded: .refunded
        case .partlyRefunded: .partlyRefunded
        default: nil
        }
      if let stage { items[order.number] = Item(order, stage) }
    }
    for order in guests where order.mayBeApproved(before: [], now) {
      items[order.number] = Item(order, .waitingForApproval)
    }
    for outcome in snapshot.outcomes where outcome.givesUnits {
      // Until the app has it, it is not delivered.
      guard let number = outcome.orderNumber, let order = byNumber[number] else { continue }
      items[number] = Item(order, .onItsWay)
    }
    // An account's question about a settled purchase is none.
    for purchase in snapshot.purchases where purchase.lane.asker == nil {
      let stage: Stage =
        if purchase.problem != nil {
          .needsSupport
        } else if signedOut.contains(purchase.lane) {
          .needsSignIn
        } else {
          .onItsWay
        }
      let item = Item(purchase, stage)
      items[item.id] = item
    }
    self.init(
      purchases: items.values.sorted { ($0.date, $0.id) > ($1.date, $1.id) }, lateCalls: snapshot.lateCalls,
      outcomesForgotten: snapshot.outcomesForgotten)
  }
}

extension PurchaseOrder {
  /// How long an approval is waited for, in milliseconds. Ask to Buy takes a day at most, a slow bank some days.
  private static var longestApproval: Int64 { 7 * 86_400_000 }

  /// Whether a screen still waits for the approval of the payment. The store reports none that was refused. So a later
  /// purchase of the same product takes its place, and it ends with the order's time or after a week. It is delivered all
  /// the same if it comes later. If a device's order is from the future, the clock went back: how old it is is not known.
  fileprivate func mayBeApproved(before later: ArraySlice<PurchaseOrder>, _ now: Timestamp) -> Bool {
    let end = createdAt.adding(milliseconds: Self.longestApproval)
    guard now < min(expiresAt ?? end, end) else { return false }
    // Of the others the backend is asked.
    let isOwn = DeviceOrder.isNumber(number) || accountToken.isGuest
    if expiresAt == nil, isOwn, isFromTheFuture(now) { return false }
    return !later.contains { other in
      OrderWish(of: other).hasProduct(of: OrderWish(of: self)) && other.state.isPurchase
    }
  }
}

extension OrderState {
  /// Whether the order was paid, or waits for an approval.
  fileprivate var isPurchase: Bool {
    [.deferred, .paid, .delivered, .refunded, .partlyRefunded, .alreadyOwned].contains(self)
  }
}

extension ShopStatus.Item {
  fileprivate init(_ order: PurchaseOrder, _ stage: ShopStatus.Stage) {
    self.init(
      id: order.number, productID: order.productID, quantity: order.quantity,
      account: order.accountToken.isGuest ? nil : order.account,
      stage: stage, date: order.createdAt.date)
  }

  fileprivate init(_ purchase: SyncSnapshot.Purchase, _ stage: ShopStatus.Stage) {
    self.init(
      id: purchase.orderNumber ?? purchase.key.rawValue, productID: purchase.productID,
      quantity: purchase.quantity, account: purchase.lane.account, stage: stage,
      date: (purchase.purchasedAt ?? purchase.queuedAt).date)
  }
}
