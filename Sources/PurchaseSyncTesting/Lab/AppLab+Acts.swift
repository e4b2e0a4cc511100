import PurchaseSync

/// What people do outside the app.
extension AppLab {
  /// From now on, a parent has to agree to the purchases of this Apple ID, or not any more.
  public func setAskToBuy(_ asks: Bool, storeAccount: String = "apple-id") {
    server.withStore { $0.setAccount(storeAccount, asksToBuy: asks) }
  }

  /// The parents agree to all that was asked. The store charges; the app need not run.
  ///
  /// - Returns: How many purchases were charged.
  @discardableResult
  public func approveAll() throws -> Int {
    let moment = server.moment
    return try server.withStore { (store) throws(StoreModelError) -> Int in
      let waiting = store.requests.filter { $0.state == .waiting }
      for request in waiting { _ = try store.approve(requestID: request.id, now: moment) }
      return waiting.count
    }
  }

  /// The parents refuse all that was asked. The app learns nothing of it.
  public func declineAll() throws {
    try server.withStore { (store) throws(StoreModelError) in
      for request in store.requests where request.state == .waiting {
        try store.decline(requestID: request.id)
      }
    }
  }

  /// The store refunds a charge, or a part of it, and notifies the backend. The app learns of it when it is in the
  /// foreground next.
  ///
  /// - Parameters:
  ///   - transactionID: The purchase.
  ///   - extent: How much is refunded, together with earlier refunds: `.units(2)` of three, a share of the price, or the
  ///     time that is left of a subscription.
  public func refund(transactionID: String, _ extent: RefundExtent = .whole) async throws {
    let moment = server.moment
    try server.withStore { (store) throws(StoreModelError) in
      _ = try store.refund(transactionID: transactionID, extent, now: moment)
    }
    await work()
  }

  /// The store takes a refund back and notifies the backend. The app learns of it when it is in the foreground next.
  public func reverseRefund(transactionID: String) async throws {
    let moment = server.moment
    try server.withStore { (store) throws(StoreModelError) in
      _ = try store.reverseRefund(transactionID: transactionID, now: moment)
    }
    await work()
  }

  /// The purchaser gives a seat of a subscription to another Apple ID, whose phone gets a transaction of its own. The
  /// subscription has as many seats as were bought, one of them the purchaser's.
  ///
  /// - Parameters:
  ///   - transactionID: The purchaser's transaction.
  ///   - member: The Apple ID of the member.
  ///   - carriesToken: Whether the member's transaction has the purchaser's account token. Apple does not say, so try both.
  public func assignSeat(
    of transactionID: String, to member: String, carriesToken: Bool = false
  ) async throws {
    let moment = server.moment
    try server.withStore { (store) throws(StoreModelError) in
      _ = try store.assignSeat(of: transactionID, to: member, carriesToken: carriesToken, now: moment)
    }
    await work()
  }

  /// The purchaser takes a member's seat back. The member's phone learns of it when it is in the foreground next.
  public func unassignSeat(of transactionID: String, from member: String) async throws {
    let moment = server.moment
    try server.withStore { (store) throws(StoreModelError) in
      try store.unassignSeat(of: transactionID, from: member, now: moment)
    }
    await work()
  }

  /// The store refunds some seats of a transaction, and notifies the backend. Nothing ends for the purchaser.
  public func refundSeats(transactionID: String, _ count: Int) async throws {
    let moment = server.moment
    try server.withStore { (store) throws(StoreModelError) in
      _ = try store.refundSeats(transactionID: transactionID, count, now: moment)
    }
    await work()
  }

  /// A parent no longer consents to the use of the app by this Apple ID: the store notifies the backend. Nothing is
  /// refunded. The system would start the app no more; a test starts it once more to see that nothing that was paid is gone.
  public func rescindConsent(storeAccount: String = "apple-id") async throws {
    let moment = server.moment
    _ = try server.withStore { (store) throws(StoreModelError) in
      try store.rescindConsent(storeAccount: storeAccount, now: moment)
    }
    await work()
  }

  /// Answers requests to a path of your own, such as `/iap/verify`, in place of the mock backend: your company's
  /// protocol. Fault plans strike these requests as well.
  public func serve(_ path: String, _ answer: @escaping MockServer.Service) {
    server.serve(path, answer)
  }
}
