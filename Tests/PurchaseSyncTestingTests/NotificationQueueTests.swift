import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSyncTesting
import Testing

/// When the store posts what, how often, and in which order.
struct NotificationQueueTests {
  private static let hour: Int64 = 3_600_000

  private func store(
    _ versions: Set<OutgoingNotification.Version> = [.two], _ environment: StoreEnvironment = .production
  ) -> StoreModel {
    var store = StoreModel(products: Shop.products, forge: Sample.forge, environment: environment)
    store.notifications.versions = versions
    return store
  }

  @Test(
    arguments: [(.one, [6, 30, 78]), (.two, [1, 13, 37, 85, 157])]
      as [(OutgoingNotification.Version, [Int64])])
  func `an answer that is no success is followed by the store's schedule, then nothing`(
    version: OutgoingNotification.Version, hours: [Int64]
  ) throws {
    var store = store([version])
    try store.buy("gold")
    var moments: [Int64] = []
    for status in [500, 404, nil, 302, 207, 503, 500] {
      guard let due = store.notifications.nextDueAt else { break }
      #expect(store.takeNotifications(now: due.adding(milliseconds: -1)).isEmpty)
      let taken = store.takeNotifications(now: due)
      #expect(taken.count == 1 && taken.map(\.failures) == [moments.count])
      // Nobody else gets it meanwhile.
      #expect(store.takeNotifications(now: due).isEmpty)
      store.settleNotification(id: taken[0].id, status: status, now: due)
      moments.append((due.milliseconds - Sample.now.milliseconds) / Self.hour)
    }
    #expect(moments == [0] + hours)
    #expect(store.notifications.waiting.isEmpty && store.notifications.abandonedCount == 1)
    #expect(store.notifications.fates.map(\.isDelivered) == [false])
  }

  @Test func `the sandbox tries once`() throws {
    var store = store([.one, .two], .sandbox)
    try store.buy("gold")
    let taken = store.takeNotifications(now: Sample.now)
    #expect(taken.count == 2)
    for notification in taken { store.settleNotification(id: notification.id, status: 500, now: Sample.now) }
    #expect(store.notifications.waiting.isEmpty && store.notifications.abandonedCount == 2)
  }

  @Test(arguments: [200, 202, 206])
  func `a success ends it, and its body is let go`(status: Int) throws {
    var store = store()
    try store.buy("gold")
    let taken = store.takeNotifications(now: Sample.now)
    store.settleNotification(id: taken[0].id, status: status, now: Sample.now)
    store.settleNotification(id: taken[0].id, status: 500, now: Sample.now)
    store.settleNotification(id: 999, status: 500, now: Sample.now)
    #expect(store.notifications.waiting.isEmpty && store.notifications.deliveredCount == 1)
    #expect(store.notifications.fates.map(\.notification.body) == [""])
  }

  @Test func `copies are the same notification, twice`() throws {
    var store = store()
    store.notifications.copies = 2
    try store.buy("gold")
    let taken = store.takeNotifications(now: Sample.now)
    #expect(taken.count == 2 && Set(taken.map(\.id)).count == 2)
    #expect(Set(taken.map(\.notificationID)).count == 1 && Set(taken.map(\.body)).count == 1)
  }

  @Test func `delays bring them out of order`() throws {
    var store = store()
    store.notifications.delays = [2_000, 0, 1_000]
    for product in ["gold", "coins", "pro"] { try store.buy(product) }
    let ids = store.charges.map(\.transactionID)
    #expect(store.takeNotifications(now: Sample.now).map(\.transactionID) == [ids[1]])
    let later = store.takeNotifications(now: Sample.now.adding(milliseconds: 5_000))
    #expect(later.map(\.transactionID) == [ids[2], ids[0]])
  }

  @Test func `for a backend that gets none, none are made`() throws {
    var store = store([])
    try store.buy("gold")
    #expect(store.notifications == NotificationQueue())
  }

  @Test func `many notifications leave a bounded history`() throws {
    var store = store()
    for _ in 0..<150 { try store.buy("coins") }
    for notification in store.takeNotifications(now: Sample.now) {
      store.settleNotification(id: notification.id, status: 200, now: Sample.now)
    }
    #expect(store.notifications.fates.count == 100 && store.notifications.deliveredCount == 150)
  }

  @Test func `a poster posts what is due and hands the answers back`() async throws {
    let world = try WorldFixture()
    try world.server.withStore { store throws(StoreModelError) in
      store.notifications.versions = [.two]
      _ = try store.pay(
        product: "coins", quantity: 1, accountToken: nil, storeAccount: "a", now: Sample.now)
    }
    let poster = NotificationPoster(world.server) { body in
      do throws(ReceiptDecodingError) {
        return try ServerNotificationV2(json: body).kind == .oneTimeCharge ? 503 : 400
      } catch {
        return nil
      }
    }
    #expect(await poster.postDue(now: Sample.now) == 1)
    #expect(await poster.postDue(now: Sample.now) == 0)
    let waiting = world.server.withStore { $0.notifications.waiting }
    #expect(waiting.map(\.failures) == [1])
  }
}
