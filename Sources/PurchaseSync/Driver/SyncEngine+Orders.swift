import Foundation
import PurchaseQueue

/// Orders: made before anybody pays.
extension SyncEngine {
  /// Makes an order, durable here and at the backend, *before* anybody pays. Pass `order.accountToken` to the store
  /// with the payment. Called again after an error, it continues the same request: no order is made twice.
  ///
  /// Throws `queueFull` while nothing has happened yet, if there is no room for one more purchase.
  public func begin(product: String, quantity: Int = 1, account: String) async throws(SyncError) -> Order {
    // Another process may take the order of a request that both found unanswered: then this one asks for another.
    for _ in 0..<Self.requestsPerOrder {
      if let order = try await beginOnce(product: product, quantity: quantity, account: account) {
        return order
      }
    }
    throw .backendUnreachable(reason: "other processes took each order that was made")
  }

  private static var requestsPerOrder: Int { 8 }

  /// Nil if the order that came is somebody else's by now.
  private func beginOnce(product: String, quantity: Int, account: String) async throws(SyncError) -> Order? {
    let proposed = configuration.surroundings.uuid().uuidString
    let key = try withFile { (file) throws(QueueError) in
      try file.request(
        account: account, product: product, quantity: quantity, proposing: proposed, waiting: requesting,
        now: configuration.now())
    }
    requesting.insert(key)
    defer { requesting.remove(key) }
    configuration.hook?("order.requesting")
    do throws(SyncError) {
      let document = try await call { engine in
        do throws(SyncError) {
          return .success(
            try await engine.requestOrder(product: product, quantity: quantity, account: account, key: key))
        } catch {
          return .failure(error)
        }
      }
      guard !isShutDown else { throw .queue(.closed(path: configuration.path)) }
      configuration.hook?("order.received")
      return try withFile { (file) throws(QueueError) in
        try file.save(document, account: account, answering: key, now: configuration.now())
      }
    } catch {
      // Nobody pays now, so the room is free again; the request stays, and is taken up by the next call.
      release(key)
      throw error
    }
  }

  /// The error of the request is what the app hears of; a reservation that stays ends by its time. The room is free for
  /// what the store keeps.
  private func release(_ key: String) {
    do throws(QueueError) {
      // Also while the engine ends: the next one is to have the room.
      try opened?.file.queue.cancelReservation(key)
    } catch {
      return report(failed(error))
    }
    guard !isShutDown else { return }
    do throws(SyncError) {
      perform(try step { (machine, now) throws(QueueError) in machine.roomIsFree(now: now) })
    } catch {
      report(error)
    }
  }

  /// Before the file is closed: who still waits for an order will be told that it is closed, and pays nothing.
  func releaseRequests() {
    do throws(QueueError) {
      for key in requesting.sorted() { try opened?.file.queue.cancelReservation(key) }
    } catch {
      report(failed(error))
    }
  }

  /// The person gave the payment up. The order still binds by its token, should it have been paid all the same.
  @discardableResult
  public func cancel(order number: String) throws(SyncError) -> Order? {
    let order = try withFile { (file) throws(QueueError) in try file.set(.cancelled, of: number) }
    // Its room is free for what the store keeps.
    perform(try step { (machine, now) throws(QueueError) in machine.roomIsFree(now: now) })
    return order
  }

  /// The payment waits for somebody's approval (Ask to Buy), for days perhaps.
  @discardableResult
  public func deferPayment(of number: String) throws(SyncError) -> Order? {
    try withFile { (file) throws(QueueError) in try file.set(.deferred, of: number) }
  }

  /// The orders of the journal, by the time they were made.
  public func orders() throws(SyncError) -> [Order] {
    try withFile { (file) throws(QueueError) in try file.journal.orders().map(\.order) }
  }

  /// Fetches the account's open orders from the backend into the journal: after a reinstall without a vault, or on a
  /// second device.
  public func fetchOrders(of account: String) async throws(SyncError) {
    let documents = try await call { engine in
      do throws(SyncError) {
        return .success(try await engine.requestOpenOrders(account: account))
      } catch {
        return .failure(error)
      }
    }
    try withFile { (file) throws(QueueError) in try file.take(documents, account: account) }
  }
}
