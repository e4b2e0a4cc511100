import PurchaseQueue
import PurchaseSync

/// How much there is in the small world of the exhaustive search, and how often each fault happens in it.
package struct SmallWorld: Sendable, Hashable {
  /// How many purchases are made.
  package var purchases = 2
  /// Which of them is an assigned seat; nil for none. It has the token of the first purchase's order.
  package var seat: Int?
  /// Whether the two purchases are the subscriptions of one bundle, each with the token of its order.
  package var isBundle = false
  /// Accounts of the app. Both have credentials on both devices.
  package var accounts = 2
  /// Devices, with one Apple ID.
  package var devices = 2
  /// How often a process dies: between two events, or after any commit or action of one.
  package var crashes = 1
  /// Whether a process may also die between an order and its payment. It makes the search much longer.
  package var leavesOrders = false
  /// How often the answer to a request is lost.
  package var lostReplies = 1
  /// How often the app is deleted and installed again.
  package var reinstalls = 1

  package init() {}

  package init(
    purchases: Int, accounts: Int = 1, devices: Int = 1, crashes: Int = 0, lostReplies: Int = 0,
    reinstalls: Int = 0, leavesOrders: Bool = false, seat: Int? = nil,
    isBundle: Bool = false
  ) {
    (self.seat, self.isBundle) = (seat, isBundle)
    self.leavesOrders = leavesOrders
    (self.purchases, self.accounts, self.devices) = (purchases, accounts, devices)
    (self.crashes, self.lostReplies, self.reinstalls) = (crashes, lostReplies, reinstalls)
  }

  /// The second purchase is a seat.
  package static var withSeat: SmallWorld {
    var world = SmallWorld()
    world.seat = 1
    return world
  }

  /// A bundle is bought.
  package static var withBundle: SmallWorld {
    var world = SmallWorld()
    world.isBundle = true
    return world
  }

  /// The order whose token a transaction has: of a purchase, both have one number.
  func order(of sale: Int) -> Int { isBundle || sale == seat ? 0 : sale }

  /// The most of each.
  package static let most = 2

  static let limits = QueueLimits(entries: 1)

  /// The production policy without random delays: each range that is drawn from has one number. Pace, horizon and
  /// budget are those of the product.
  static var policy: RetryPolicy {
    var policy = RetryPolicy()
    policy.baseMilliseconds = 0
    policy.wakeJitterMilliseconds = 0
    policy.retryAfterJitterPercent = 0
    return policy
  }

  /// The moment of all that the store and the backend do. No device's clock shows it.
  static let storeNow: Int64 = 1_600_000_000_000
  /// When a device's clock begins. Each device has a clock of its own; it moves only to the next timer.
  static let deviceStart: Int64 = 1_700_000_000_000
}
