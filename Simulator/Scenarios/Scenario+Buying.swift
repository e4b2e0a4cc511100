import PurchaseSyncTesting
import ScenarioFormat

/// Between the wish to buy and the outcome: what sheets, banks, stores and backends do to an order.
extension Scenario {
  private static let unlock = "unlock"
  private static let orderRoute = "/v1/orders"

  static let buying: [Scenario] = [
    Scenario(
      name: "owned-bought-again",
      summary: "an owned product is bought again: the store answers with the old purchase",
      description: """
        Alice owns the product. StoreKit answers her second payment with the first transaction and charges \
        nothing. The second order is closed (purchases-ios#6357, purchases-ios#2148).
        """,
      attacks: "apps that wait for a transaction with the new order's token",
      proves: ["R4.5", "invariant 36"],
      launches: [
        Launch(does: [.buy(product: unlock, account: alice)], granted: 1),
        Launch(does: [.buy(product: unlock, account: alice)]),
      ], expects: .init(paid: 1, orders: ["delivered": 1, "cancelled": 1, "open": 0])),
    Scenario(
      name: "unfinished-bought-again",
      summary: "a consumable is bought again before its first purchase is finished",
      description: """
        The backend is down. StoreKit answers the second payment with the first, unfinished transaction. Its \
        outcome is that of both orders (purchases-ios#2148).
        """,
      attacks: "apps that take each answer of the sheet for a new purchase",
      proves: ["R4.5", "invariant 2", "invariant 36"],
      launches: [
        Launch(
          before: [.repeatsTransactions, .outage()], does: [buyGems, buyGems, .use(milliseconds: 50)]),
        Launch(before: [.noFaults]),
      ], expects: .init(paid: 1, orders: ["delivered": 1, "cancelled": 1, "open": 0])),
    Scenario(
      name: "cancelled-then-charged",
      summary: "the sheet says cancelled, and the bank completes the payment later",
      description: """
        Alice pays with a bank that confirms in another app. The sheet ends as cancelled; the charge comes \
        while the app is closed (react-native-purchases#1570, purchases-ios#6207).
        """,
      attacks: "apps that drop an order when its sheet was cancelled",
      proves: ["R4.5", "R5.1", "invariant 9"],
      launches: [
        Launch(
          before: [.payment(storeAccount: storeAccount, asksToBuy: false, interruptions: 1)], does: [buyGems]),
        Launch(before: [.approved]),
      ], expects: .init(paid: 1, orders: ["delivered": 1])),
    Scenario(
      name: "dismissed-sheets",
      summary: "more sheets are closed than the queue has entries; then one is paid",
      description: "Alice opens the sheet twelve times and closes it. The queue has three entries.",
      attacks: "queues whose reservations block the next purchase",
      proves: ["R5.5", "invariant 37"],
      launches: [Launch(does: [.dismissSheets(product: gems, account: alice, count: 12), buyCoins])],
      expects: .init(paid: 1, orders: ["delivered": 1]), entries: 3),
    Scenario(
      name: "outcomes-never-confirmed", summary: "the app confirms no outcome, and people go on buying",
      description: "Six purchases are delivered, and the app confirms none. The queue has three entries.",
      attacks: "queues in which delivered purchases take capacity until the app has looked at them",
      proves: ["R5.5", "invariant 37"],
      launches: [
        Launch(
          does: [.neverConfirm]
            + Array(repeating: [buyGems, .use(milliseconds: 5_000)], count: 6).joined()),
        Launch(does: [buyCoins]),
      ], expects: .init(paid: 7, orders: ["delivered": 7]), entries: 3),
    Scenario(
      name: "backend-down-at-purchase",
      summary: "the backend is down when alice buys: the device makes the order",
      description: """
        No order can be made at the backend. The device gives number and token, and the upload registers the \
        order.
        """,
      attacks: "shops that sell nothing while their backend is down",
      proves: ["R4.5", "R5.2", "invariant 9"],
      launches: [
        Launch(before: [.fault(.respond, at: orderRoute, count: nil, status: 503)], does: [buyGems]),
        Launch(before: [.noFaults]),
      ], expects: .init(paid: 1, orders: ["delivered": 1]), makesOrders: true),
    Scenario(
      name: "order-refused",
      summary: "the backend refuses an order for good; the next one is another request",
      description: "The product is not for sale for a moment. The next request has another Idempotency-Key.",
      attacks: "apps that repeat a refused request under its key, whose answer a backend repeats for ever",
      proves: ["R4.5", "invariant 37"],
      launches: [
        Launch(
          before: [
            .fault(
              .respond, at: orderRoute, status: 422, body: #"{"type":"invalid","title":"no","status":422}"#)
          ], does: [buyGems, buyGems])
      ], expects: .init(paid: 1, orders: ["delivered": 1])),
    Scenario(
      name: "cancelled-order-told-later",
      summary: "the backend is down when the sheet is closed, and hears it later",
      description: "The order stays pending to the backend until it has heard that its sheet was cancelled.",
      attacks: "apps whose backends keep every unpaid order open",
      proves: ["R5.3"],
      launches: [
        Launch(
          before: [
            .payment(storeAccount: storeAccount, asksToBuy: false, interruptions: 1),
            .fault(.respond, at: orderRoute + "/", count: 2, status: 503),
          ], does: [buyGems, .use(milliseconds: 50)]),
        Launch(does: [.use(milliseconds: 50)]), Launch(does: [buyCoins]),
      ], expects: .init(paid: 1, orders: ["delivered": 1, "cancelled": 1])),
    Scenario(
      name: "sign-out-while-pending",
      summary: "alice asks to buy and signs out; bob is signed in when it is approved",
      description: """
        The payment waits for a parent. Alice signs out, and bob uses the app when the purchase is approved. \
        It is hers (purchases-android#1907).
        """,
      attacks: "apps that give a deferred purchase to the account that is signed in",
      proves: ["R4.5", "invariant 6"],
      launches: [
        Launch(
          before: [.payment(storeAccount: storeAccount, asksToBuy: true, interruptions: 0)],
          signedIn: [alice],
          does: [buyGems, .signOut(account: alice), .signIn(account: "bob"), .use(milliseconds: 50)]),
        Launch(before: [.approved], signedIn: ["bob"], does: [.use(milliseconds: 100)]),
        Launch(signedIn: [alice]),
      ], expects: .init(paid: 1, orders: ["delivered": 1])),
    Scenario(
      name: "subscribed-already",
      summary: "alice buys what she is subscribed to: one entitlement, one outcome",
      description: """
        The store answers the second payment with the transaction of the present period \
        (flutter#171941).
        """,
      attacks: "apps that grant a subscription for each answer of the sheet",
      proves: ["R4.5", "invariant 2", "invariant 36"],
      launches: [
        Launch(
          before: [.repeatsTransactions], does: [.buy(product: "basic.monthly", account: alice)], granted: 1),
        Launch(does: [.buy(product: "basic.monthly", account: alice)]),
      ], expects: .init(paid: 1, orders: ["delivered": 1, "cancelled": 1, "open": 0])),
    Scenario(
      name: "update-before-answer",
      summary: "the store's update comes before the answer of the payment sheet",
      description: "Since iOS 26 the update can be faster than `purchase()` (purchases-ios#7072).",
      attacks: "apps that handle both as purchases",
      proves: ["R4.5", "invariant 18"],
      launches: [Launch(does: [.buyHeardFirst(product: gems, account: alice)])],
      expects: .init(paid: 1, orders: ["delivered": 1, "cancelled": 0])),
  ]
}
