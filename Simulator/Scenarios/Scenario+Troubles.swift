import PurchaseQueue
import PurchaseSyncTesting

/// A queue, a network or a clock that does not behave.
extension Scenario {
  private static let day: Int64 = 86_400_000

  /// Bought outside of the app, as an offer code is.
  private static func payOutside(_ count: Int) -> @Sendable (WorldServer) throws -> Void {
    { world in
      for _ in 0..<count {
        _ = try world.withStore { (store) throws(StoreModelError) in
          try store.pay(
            product: gems, quantity: 1, accountToken: nil, storeAccount: "apple-1", now: .wallClock())
        }
      }
    }
  }

  static let troubles: [Scenario] = [
    Scenario(
      name: "poison-at-head",
      summary: "the backend fails on one transaction, again and again: those behind it pass it",
      launches: [
        Launch(
          steps: [
            .buy(product: gems, account: "alice"), .buy(product: coins, account: "alice"),
            .buy(product: coins, account: "alice"), .use(milliseconds: 600),
          ]),
        Launch(before: { $0.setFaults(.none) }),
      ],
      faults: { .poison(transactionID: "2000000000000001") }, timeScale: 20_000),
    Scenario(
      name: "queue-full",
      summary: "more purchases than the queue has room for, while the backend is down",
      launches: [Launch(steps: [.use(milliseconds: 200)]), Launch(before: { $0.setFaults(.none) })],
      prepare: payOutside(5), faults: { .refusal(status: 503, retryAfter: nil, requests: nil) }, entries: 2),
    Scenario(
      name: "captive-portal",
      summary: "a hotel's sign-in page answers instead of the backend, with 200 and with 403",
      faults: {
        FaultPlan.captivePortal(status: 200, requests: 3, path: uploads)
          .merging(.captivePortal(status: 403, requests: 6, path: uploads))
      }),
    Scenario(
      name: "clock-jump",
      summary: "the backend asks to wait a day; the phone's clock goes back a year and then on by two",
      launches: [
        Launch(
          steps: [
            .buy(product: gems, account: "alice"), .use(milliseconds: 50),
            .jumpClock(milliseconds: -365 * day), .use(milliseconds: 50),
            .jumpClock(milliseconds: 730 * day),
          ])
      ],
      faults: {
        .refusal(
          status: 429, retryAfter: .date(Timestamp.wallClock().adding(milliseconds: day)), requests: 1,
          path: uploads)
      }),
  ]
}
