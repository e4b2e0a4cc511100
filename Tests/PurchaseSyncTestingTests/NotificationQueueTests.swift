import AppStoreDocuments
import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSQLite
import TestSupport
import Testing

@testable import PurchaseSyncTesting

/// When, how often and in which order the store posts notifications.
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
  func `an answer without success is followed by the attempts of the store's schedule, and no more`(
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
      // No other poster gets the notification in the meantime.
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
  func `a success ends the attempts, and the body is dropped`(status: Int) throws {
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
    store.notifications.delays = [.seconds(2), .zero, .seconds(1)]
    for product in ["gold", "coins", "pro"] { try store.buy(product) }
    let ids = store.charges.map(\.transactionID)
    #expect(store.takeNotifications(now: Sample.now).map(\.transactionID) == [ids[1]])
    let later = store.takeNotifications(now: Sample.now.adding(milliseconds: 5_000))
    #expect(later.map(\.transactionID) == [ids[2], ids[0]])
  }

  @Test func `without configured versions no notifications are made`() throws {
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

  @Test func `due notifications are posted, and their answers recorded`() async throws {
    let fixture = try MockServerFixture()
    try fixture.server.withStore { store throws(StoreModelError) in
      store.notifications.versions = [.two]
      _ = try store.pay(
        product: "coins", quantity: 1, accountToken: nil, storeAccount: "a", now: Sample.now)
    }
    let post: @Sendable (Data) async -> Int? = { body in
      do throws(ReceiptDecodingError) {
        return try ServerNotificationV2(json: body).kind == .oneTimeCharge ? 503 : 400
      } catch {
        return nil
      }
    }
    #expect(await fixture.server.goOn(post: post) == 1)
    #expect(await fixture.server.goOn(post: post) == 0)
    let waiting = fixture.server.withStore { $0.notifications.waiting }
    #expect(waiting.map(\.failures) == [1])
  }

  @Test(arguments: [1, 2])
  func `a slow receiver of one notification does not delay the others, if more are posted at once`(
    atOnce: Int
  )
    async throws
  {
    let fixture = try MockServerFixture()
    fixture.server.withStore { $0.notifications.versions = [.two] }
    let slow = try fixture.server.withStore { try $0.buy("coins", as: "slow") }.transactionID
    for _ in 0..<5 { _ = try fixture.server.withStore { try $0.buy("coins", as: "quick") } }
    let posted = Locked<[String]>([])
    let looks = atOnce == 1 ? 50 : 60_000
    let post: @Sendable (Data) async -> Int? = { body in
      let id = Self.transactionID(in: body)
      // The slow one is answered after all others, or after some looks if they wait for it.
      for _ in 0..<looks where id == slow && posted.value.count < 5 { await Patience().pause(1_000) }
      posted.withLock { $0.append(id) }
      return 200
    }
    #expect(await fixture.server.goOn(atOnce: atOnce, post: post) == 6)
    #expect((posted.value.first == slow) == (atOnce == 1) && posted.value.count == 6)
    #expect(fixture.server.withStore { $0.notifications.deliveredCount } == 6)
  }

  @Test func `the notifications of a transaction are posted in their order`() {
    func notification(_ id: Int, _ transaction: String) -> OutgoingNotification {
      OutgoingNotification(
        id: id, notificationID: "\(id)", version: .two, kind: "TEST", subtype: nil,
        transactionID: transaction,
        body: "", createdAt: Sample.now, dueAt: Sample.now)
    }
    let due = [notification(1, "b"), notification(2, "a"), notification(3, "b"), notification(4, "b")]
    #expect(MockServer.sequences(of: due).map { $0.map(\.id) } == [[1, 3, 4], [2]])
  }

  @Test func `as long as nothing is due, the store is not compared with its file`() async throws {
    let directory = try TemporaryDirectory()
    let server = try MockServer(
      databasePath: directory.path("a.sqlite"), products: Sample.products, bundleID: Sample.bundleID,
      keepsStore: true,
      now: { Sample.now })
    _ = try server.withStore { try $0.buy("pro") }
    #expect(await server.goOn { _ in 200 } == 0)
    #expect(server.mock.withLock { $0.isChanged } == false)
    server.stop()
  }

  private static func transactionID(in body: Data) -> String {
    do {
      return try ServerNotificationV2(json: body).details?.transaction()?.transactionID ?? ""
    } catch {
      return ""
    }
  }
}
