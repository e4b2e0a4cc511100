import PurchaseQueue

// What the status page needs of the store, to act as its accounts.
extension AdminState {
  /// A store account that has settings, transactions or a request.
  struct AccountRow: Encodable {
    var storeAccount: String
    var asksToBuy: Bool
    var billingWorks: Bool
    var interruptedPurchases: Int
    var family: [String]

    static func all(_ store: StoreModel) -> [AccountRow] {
      let names = Set(store.accounts.keys).union(store.log.accounts.keys)
        .union(store.requests.map(\.payment.storeAccount)).union(store.signedIn.values)
      return names.sorted().prefix(AdminState.rows).map { name in
        let account = store.account(name)
        return AccountRow(
          storeAccount: name, asksToBuy: account.asksToBuy, billingWorks: account.billingWorks,
          interruptedPurchases: account.interruptedPurchases, family: account.family)
      }
    }
  }

  /// A purchase that waits for a decision outside the app.
  struct WaitingRow: Encodable {
    var requestID: String
    var storeAccount: String
    var productID: String
    var quantity: Int
    var origin: PurchaseRequest.Origin
    var requestedAt: Timestamp

    static func all(_ store: StoreModel) -> [WaitingRow] {
      store.requests.filter { $0.state == .waiting }.suffix(AdminState.rows).reversed().map { request in
        WaitingRow(
          requestID: request.id, storeAccount: request.payment.storeAccount,
          productID: request.payment.productID, quantity: request.payment.quantity, origin: request.origin,
          requestedAt: request.requestedAt)
      }
    }
  }

  /// A subscription by its newest period.
  struct SubscriptionRow: Encodable {
    var originalTransactionID: String
    var transactionID: String
    var storeAccount: String
    var productID: String
    /// The product of the next period.
    var nextProductID: String
    /// "active", "gracePeriod", "billingRetry", "expired" or "refunded".
    var phase: String
    var willRenew: Bool
    var endsAt: Timestamp
    /// The price that the customer has to consent to; nil without such a question.
    var askedPrice: Int64?

    static func all(_ store: StoreModel) -> [SubscriptionRow] {
      store.subscriptions.values.sorted {
        ($1.last.startsAt, $1.last.transactionID) < ($0.last.startsAt, $0.last.transactionID)
      }
      .prefix(AdminState.rows).map(SubscriptionRow.init)
    }

    private init(_ subscription: Subscription) {
      originalTransactionID = subscription.originalTransactionID
      transactionID = subscription.last.transactionID
      storeAccount = subscription.storeAccount
      productID = subscription.last.productID
      nextProductID = subscription.nextPlan.productID
      phase = Self.word(subscription.phase)
      willRenew = subscription.willRenew
      endsAt = subscription.last.endsAt
      if case .pending(let price) = subscription.priceIncrease { askedPrice = price }
    }

    private static func word(_ phase: Subscription.Phase) -> String {
      switch phase {
      case .active: "active"
      case .gracePeriod: "gracePeriod"
      case .billingRetry: "billingRetry"
      case .expired: "expired"
      case .refunded: "refunded"
      }
    }
  }
}
