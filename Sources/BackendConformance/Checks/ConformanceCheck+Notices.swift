import AppStoreReceipts
import Foundation
import PurchaseSyncTesting

extension ConformanceCheck {
  private static let taken = ConformanceSource.openAPI("POST", "/v1/notifications/appstore", 200)
  private static let silent = ConformanceSource.openAPI("POST", "/v1/notifications/appstore", 503)

  /// What each type of notification does, and what it does not.
  static let notices: [ConformanceCheck] = [
    ConformanceCheck(
      "notification-reversal", "a notification that a refund is taken back gives the purchase back", taken
    ) { lab in
      let before = try await lab.held(by: .alice)
      let (_, paid) = try await lab.grantedOrder()
      _ = try await lab.notify(try await lab.refund(paid).notification)
      let reply = try await lab.notify(try await lab.reverseRefund(paid).notification)
      try expect(reply.isSuccess, "a 2xx")
      let after = try await lab.held(by: .alice)
      try expect(after == before + 1, "it counts again: \(before + 1)")
    },
    ConformanceCheck(
      "notification-older", "an older notification that comes after a newer one changes nothing", taken
    ) { lab in
      let before = try await lab.held(by: .alice)
      // Minutes apart, so that their times differ.
      let (order, paid) = try await lab.withClock(movedBy: -1_200_000) { try await lab.paidOrder() }
      try await lab.settle(paid, order: order.number, to: "granted")
      let refunded = try await lab.withClock(movedBy: -600_000) { try await lab.refund(paid) }
      let reversed = try await lab.reverseRefund(paid)
      for notification in [reversed.notification, refunded.notification] {
        let reply = try await lab.notify(notification)
        try expect(reply.isSuccess, "a 2xx, also for the older one")
      }
      let after = try await lab.held(by: .alice)
      try expect(after == before + 1, "the purchase, whose refund was taken back: \(before + 1)")
    },
    ConformanceCheck(
      "refund-older-proof", "a proof from before a reversal does not bring the refund back", taken
    ) { lab in
      let before = try await lab.held(by: .alice)
      let (order, paid) = try await lab.withClock(movedBy: -1_200_000) { try await lab.paidOrder() }
      try await lab.settle(paid, order: order.number, to: "granted")
      let refunded = try await lab.withClock(movedBy: -600_000) { try await lab.refund(paid) }
      _ = try await lab.notify(try await lab.reverseRefund(paid).notification)
      try await lab.settle(refunded, order: order.number, to: "granted", "duplicate")
      let after = try await lab.held(by: .alice)
      try expect(after == before + 1, "the purchase: \(before + 1)")
    },
    ConformanceCheck(
      "notification-revoke", "REVOKE takes a shared purchase from its member, and not from the payer", taken
    ) { lab in
      let product = try await lab.sharedProductID()
      let (payer, member) = (await lab.unique("apple"), await lab.unique("apple"))
      try await lab.share(of: payer, with: member)
      let paid = try await lab.pay(token: nil, storeAccount: payer, product: product)
      try await lab.settle(paid, to: "granted")
      let shared = try await lab.delivered(to: member, product: product)
      try await lab.settle(shared, as: .bob, to: "granted")
      let before = (
        alice: try await lab.held(by: .alice, of: product), bob: try await lab.held(by: .bob, of: product)
      )
      try await lab.unshare(of: payer)
      let reply = try await lab.notify(try await lab.notice(of: shared, "type=REVOKE"))
      try expect(reply.isSuccess, "a 2xx")
      let after = (
        alice: try await lab.held(by: .alice, of: product), bob: try await lab.held(by: .bob, of: product)
      )
      try expect(after.bob == before.bob - 1, "one less for the member: \(before.bob - 1)")
      try expect(after.alice == before.alice, "the payer's: \(before.alice)")
    },
    ConformanceCheck(
      "notification-version-1-asks", "version 1 makes the backend ask the store, which tells of the refund",
      taken
    ) { lab in
      let before = try await lab.held(by: .alice)
      let (_, paid) = try await lab.grantedOrder()
      _ = try await lab.refund(paid)
      let reply = try await lab.notifyVersion1(of: [paid])
      try expect(reply.isSuccess, "a 2xx")
      let after = try await lab.held(by: .alice)
      try expect(after == before, "without the refunded one: \(before)")
    },
    ConformanceCheck(
      "notification-silent",
      "version 1 is not lost while the store does not answer: a 5xx, or asked about later", silent
    ) { lab in
      let before = try await lab.held(by: .alice)
      let (_, paid) = try await lab.grantedOrder()
      _ = try await lab.refund(paid)
      let reply = try await lab.withoutStoreAnswers { try await lab.notifyVersion1(of: [paid]) }
      if !reply.isSuccess {
        // The store sends it again. Else its refund would come in the middle of a later check.
        let again = try await lab.notifyVersion1(of: [paid])
        try expect(again.isSuccess, "a 2xx, when the store answers again")
      }
      for _ in 0..<20 where try await lab.held(by: .alice) != before {
        try await lab.site.pause(.milliseconds(500))
      }
      let after = try await lab.held(by: .alice)
      try expect(after == before, "without the refunded one, when the store answers again: \(before)")
    },
    ConformanceCheck(
      "notification-version-1-odd", "version 1 without a receipt, or without an id in it, is no 5xx", taken
    ) { lab in
      let paid = try await lab.pay(token: nil, storeAccount: lab.unique("apple"))
      let item: JSONValue = ["product_id": .string(paid.productID)]
      let receipts: [JSONValue] = [
        .null, [:], ["latest_receipt_info": .null], ["latest_receipt_info": [item]],
        ["latest_receipt_info": item], ["latest_receipt_info": ["x"]],
      ]
      for receipt in receipts {
        let reply = try await lab.send(
          "POST", "v1/notifications/appstore", as: .anonymous,
          json: ["notification_type": "DID_RENEW", "unified_receipt": receipt])
        try expect(reply.isSuccess || reply.isRefusal, "a 2xx, or a 4xx")
      }
    },
    ConformanceCheck(
      "notification-version-1-several",
      "version 1 makes the backend ask about each transaction in it, whichever is not known", taken
    ) { lab in
      for isFirst in [true, false] {
        let before = try await lab.held(by: .alice)
        let ((_, kept), (_, gone)) = (try await lab.grantedOrder(), try await lab.grantedOrder())
        _ = try await lab.refund(gone)
        var unknown = kept
        unknown.transactionID = "9" + kept.transactionID + "9"
        let all = isFirst ? [gone, unknown, kept] : [kept, unknown, gone]
        let reply = try await lab.notifyVersion1(of: all)
        try expect(reply.isSuccess, "a 2xx")
        let after = try await lab.held(by: .alice)
        try expect(after == before + 1, "without the refunded one: \(before + 1)")
      }
    },
    ConformanceCheck("notification-test", "the store's TEST is answered with a 2xx", taken) { lab in
      let paid = try await lab.pay(token: nil, storeAccount: lab.unique("apple"))
      let reply = try await lab.notify(try await lab.notice(of: paid, "bare=TEST"))
      try expect(reply.isSuccess, "a 2xx")
    },
    ConformanceCheck(
      "notification-new-type", "a type of a later version is answered with a 2xx", taken
    ) { lab in
      let paid = try await lab.pay(token: nil, storeAccount: lab.unique("apple"))
      let reply = try await lab.notify(try await lab.notice(of: paid, "bare=A_TYPE_OF_A_LATER_VERSION"))
      try expect(reply.isSuccess, "a 2xx: the store sends again what is refused")
    },
    ConformanceCheck(
      "notification-declined", "a refund that the store declines, or asks about, takes nothing back", taken
    ) { lab in
      let (_, paid) = try await lab.grantedOrder()
      try await lab.gaining(0) {
        for type in ["REFUND_DECLINED", "CONSUMPTION_REQUEST"] {
          let reply = try await lab.notify(try await lab.notice(of: paid, "type=" + type))
          try expect(reply.isSuccess, "a 2xx for \(type)")
        }
      }
    },
    ConformanceCheck(
      "notification-undated", "REFUND about a transaction without a revocationDate takes nothing back", taken
    ) { lab in
      let (_, paid) = try await lab.grantedOrder()
      try await lab.gaining(0) { _ = try await lab.notify(try await lab.notice(of: paid, "type=REFUND")) }
    },
    ConformanceCheck(
      "notification-not-renewed", "a subscription that will not renew goes on to the end of its period", taken
    ) { lab in
      let plan = try await lab.plans().lower
      let (_, paid) = try await lab.grantedOrder(product: plan)
      try await lab.endRenewal(of: paid)
      try await lab.gaining(0, of: plan) {
        let notice = try await lab.notice(of: paid, "type=DID_CHANGE_RENEWAL_STATUS")
        let reply = try await lab.notify(notice)
        try expect(reply.isSuccess, "a 2xx")
      }
    },
    ConformanceCheck(
      "notification-unclaimed", "a purchase that was notified before its upload is granted by the upload",
      taken
    ) { lab in
      let (order, paid) = try await lab.paidOrder()
      try await lab.gaining(1) {
        _ = try await lab.notify(try await lab.notice(of: paid))
        try await lab.settle(paid, order: order.number, to: "granted", "duplicate")
      }
      try await lab.expectState("delivered", of: order.number)
    },
  ]
}

extension ConformanceLab {
  /// The purchases of a store account are shared no more.
  func unshare(of storeAccount: String) async throws {
    let reply = try await ask(
      "POST", "store/accounts", ["storeAccount": .string(storeAccount), "family": []])
    try expect(reply.status == 200, "200 of the store, for the end of a family")
  }

  /// An unsigned notification of version 1 that names payments.
  fileprivate func notifyVersion1(of paid: [Paid]) async throws -> Reply {
    let items = paid.map { one -> JSONValue in
      [
        "transaction_id": .string(one.transactionID), "original_transaction_id": .string(one.transactionID),
        "product_id": .string(one.productID),
      ]
    }
    let environment = paid.first?.environment ?? Paid.production
    return try await send(
      "POST", "v1/notifications/appstore", as: .anonymous,
      json: [
        "notification_type": "REFUND",
        "environment": .string(environment == Paid.production ? "PROD" : environment),
        "unified_receipt": [
          "environment": .string(environment), "latest_receipt_info": .array(items),
        ],
      ])
  }
}
