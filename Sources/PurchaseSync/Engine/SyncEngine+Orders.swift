import Foundation
import PurchaseQueue

/// Orders: made before the payment.
extension SyncEngine {
  /// Makes an order, durable here and at the backend, *before* the payment. Pass `order.accountToken` to the store
  /// with the payment. Called again after an error, it continues the same request: no order is made twice.
  ///
  /// Throws `queueFull` before anything has happened, if there is no capacity for one more purchase.
  public func begin(product: String, quantity: Int = 1, account: String) async throws(SyncError)
    -> PurchaseOrder
  {
    // Another process may take the order of a request that both found unanswered: then this one asks for another.
    for _ in 0..<Self.requestsPerOrder {
      if let order = try await beginOnce(product: product, quantity: quantity, account: account) {
        return order
      }
    }
    throw .backendUnreachable(reason: "other processes took each order that was made")
  }

  private static var requestsPerOrder: Int { 8 }

  /// Nil if another process has taken the order meanwhile.
  private func beginOnce(product: String, quantity: Int, account: String) async throws(SyncError)
    -> PurchaseOrder?
  {
    let proposed = configuration.system.uuid().uuidString
    let key = try withFile { (file) throws(QueueError) in
      try file.request(
        account: account, product: product, quantity: quantity, proposing: proposed, waiting: requesting,
        now: configuration.now())
    }
    requesting.insert(key)
    defer { requesting.remove(key) }
    configuration.checkpoint?(.orderRequesting)
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
      configuration.checkpoint?(.orderReceived)
      return try withFile { (file) throws(QueueError) in
        try file.save(document, account: account, answering: key, now: configuration.now())
      }
    } catch {
      // There will be no payment, so the capacity is free again. The request stays, and the next call continues it.
      release(key)
      throw error
    }
  }

  /// The app gets the error of the request; an error here is only reported, and a reservation that stays ends by its
  /// time. The freed capacity is for transactions that the store keeps.
  private func release(_ key: String) {
    do throws(QueueError) {
      // Also while the engine ends: the next one is to have the capacity.
      try opened?.file.queue.cancelReservation(key)
    } catch {
      return report(failed(error))
    }
    guard !isShutDown else { return }
    do throws(SyncError) {
      perform(try step { (machine, now) throws(QueueError) in machine.capacityFreed(now: now) })
    } catch {
      report(error)
    }
  }

  /// Frees the capacity of unanswered requests before the file is closed. Their callers get an error and do not pay.
  func releaseRequests() {
    do throws(QueueError) {
      for key in requesting.sorted() { try opened?.file.queue.cancelReservation(key) }
    } catch {
      report(failed(error))
    }
  }

  /// The user cancelled the payment. The order still binds by its token if it was paid after all.
  @discardableResult
  public func cancel(order number: String) throws(SyncError) -> PurchaseOrder? {
    let order = try withFile { (file) throws(QueueError) in try file.set(.cancelled, of: number) }
    // The freed capacity is for transactions that the store keeps.
    perform(try step { (machine, now) throws(QueueError) in machine.capacityFreed(now: now) })
    return order
  }

  /// The payment waits for an approval (Ask to Buy), perhaps for days.
  @discardableResult
  public func deferPayment(of number: String) throws(SyncError) -> PurchaseOrder? {
    try withFile { (file) throws(QueueError) in try file.set(.deferred, of: number) }
  }

  /// The orders of the journal, by the time they were made.
  public func orders() throws(SyncError) -> [PurchaseOrder] {
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
