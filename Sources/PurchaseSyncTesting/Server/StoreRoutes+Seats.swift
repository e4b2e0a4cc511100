import AppStoreDocuments
import AppStoreReceipts
import PurchaseQueue

/// Routes for the seats of subscriptions: what the purchaser and the store do outside of the app.
extension MockState {
  static func changeSeats(
    _ mock: inout MockState, _ wish: SeatChange, _ call: Route.Call
  ) throws -> SignedChange {
    let id = wish.transactionID
    if let claims = wish.unclaimed {
      let forge = NotificationForge(receipts: mock.store.signer, environment: mock.store.environment)
      let body = forge.unclaimedSeats(claims, id: "unclaimed-\(id)-\(claims.count)", signedAt: call.now)
      return SignedChange(transactionID: id, signedPayload: body["signedPayload"]?.string ?? "")
    }
    switch (wish.assignTo, wish.takeFrom, wish.refunded, wish.renewing) {
    case (let member?, nil, nil, nil):
      let seat = try mock.store.assignSeat(
        of: id, to: member, carriesToken: wish.carriesToken ?? false, now: call.now)
      return mock.reply(.subscribed, .initialBuy, about: seat, "seat-" + seat.transactionID, call)
    case (nil, let member?, nil, nil):
      try mock.store.unassignSeat(of: id, from: member, now: call.now)
      let seat = mock.store.transactions(storeAccount: member).last { $0.cause == .assignedSeat }
      return mock.reply(.revoke, nil, about: seat, "taken-" + (seat?.transactionID ?? id), call)
    case (nil, nil, let count?, nil):
      let paid = try mock.store.refundSeats(transactionID: id, count, now: call.now)
      return mock.reply(.refund, .seats, about: paid, "seats-\(id)-\(paid.revokedSeats)", call)
    case (nil, nil, nil, let count?):
      try mock.store.setRenewalSeats(count, transactionID: id, now: call.now)
      let paid = mock.store.transaction(id)
      return mock.reply(
        .didChangeRenewalPreference, .decreaseQuantity, about: paid, "renewing-\(id)-\(count)", call)
    default: throw HTTPProblem.invalid("assignTo, takeFrom, refunded, renewing, unclaimed: not one of them")
    }
  }

  private func reply(
    _ kind: ServerNotificationV2.Kind, _ subtype: ServerNotificationV2.Subtype?,
    about record: StoreTransactionRecord?, _ name: String, _ call: Route.Call
  ) -> SignedChange {
    let forge = NotificationForge(receipts: store.signer, environment: store.environment)
    let body = forge.version2(
      kind, subtype, id: name, about: record,
      renewal: record.flatMap { store.renewal(of: $0.originalTransactionID) },
      state: record.flatMap { store.subscription(of: $0.transactionID)?.state }, signedAt: call.now)
    return SignedChange(
      transactionID: record?.transactionID ?? "", signedPayload: body["signedPayload"]?.string ?? "")
  }
}
