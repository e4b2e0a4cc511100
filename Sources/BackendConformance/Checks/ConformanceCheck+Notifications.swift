import AppStoreReceipts
import Foundation
import PurchaseSyncTesting

extension ConformanceCheck {
  private static let taken = ConformanceSource.openAPI("POST", "/v1/notifications/appstore", 200)
  private static let refused = ConformanceSource.openAPI("POST", "/v1/notifications/appstore", 422)

  /// Which notifications count.
  static let notifications: [ConformanceCheck] = [
    ConformanceCheck(
      "notification-unsigned", "a notification that the store did not sign changes nothing", refused
    ) { lab in
      let (_, paid) = try await lab.grantedOrder()
      let before = try await lab.held(by: .alice)
      // A genuine notification about another purchase, with this one's transaction in it.
      let (_, other) = try await lab.paidOrder()
      let genuine = try await lab.refund(other).notification ?? ""
      let payload = JWSText.payload(of: genuine) ?? .null
      let data = ConformanceLab.with(payload["data"] ?? .null, "signedTransactionInfo", .string(paid.jws))
      let forged = JWSText.with(ConformanceLab.with(payload, "data", data), in: genuine)
      let reply = try await lab.notify(forged)
      try expect(reply.isRefusal, "a 4xx")
      let after = try await lab.held(by: .alice)
      try expect(after == before, "the purchase is still there: \(before)")
    },
    ConformanceCheck(
      "notification-unsigned-inside", "a transaction in a notification has to be signed too", refused
    ) { lab in
      let (_, paid) = try await lab.grantedOrder()
      let before = try await lab.held(by: .alice)
      let payload: JSONValue = [
        "notificationType": "REFUND", "notificationUUID": .string(UUID().uuidString), "version": "2.0",
        "signedDate": .integer(ConformanceLab.now), "data": ["signedTransactionInfo": .string(paid.jws)],
      ]
      let reply = try await lab.notify(JWSText.unsigned(JWSText.with(payload, in: paid.jws)))
      try expect(reply.isRefusal, "a 4xx")
      let after = try await lab.held(by: .alice)
      try expect(after == before, "the purchase is still there: \(before)")
    },
    ConformanceCheck(
      "notification-version-1", "an unsigned notification of version 1 is only a reason to ask the store",
      taken
    ) { lab in
      let (_, paid) = try await lab.grantedOrder()
      let before = try await lab.held(by: .alice)
      let item: JSONValue = [
        "transaction_id": .string(paid.transactionID), "original_transaction_id": .string(paid.transactionID),
        "product_id": .string(paid.productID), "quantity": "1", "purchase_date_ms": "1700000000000",
        "cancellation_date_ms": "1700000000001",
      ]
      let reply = try await lab.send(
        "POST", "v1/notifications/appstore", as: .anonymous,
        json: [
          "notification_type": "CANCEL", "environment": "PROD",
          "unified_receipt": ["environment": "Production", "latest_receipt_info": [item]],
        ])
      try expect(reply.status < 500, "no 5xx")
      let after = try await lab.held(by: .alice)
      try expect(after == before, "the purchase is still there: \(before)")
    },
    ConformanceCheck(
      "notification-malformed", "a body that is no notification is a 4xx",
      .openAPI("POST", "/v1/notifications/appstore", 400), needs: []
    ) { lab in
      for body in ["{", "[]", #"{"signedPayload":7}"#, #"{"signedPayload":"a.b.c"}"#] {
        let reply = try await lab.send(
          "POST", "v1/notifications/appstore", as: .anonymous, body: Data(body.utf8))
        try expect(reply.isRefusal, "a 4xx")
      }
    },
    ConformanceCheck("notification-open", "the store posts without credentials, and gets a 2xx", taken) {
      lab in
      let (_, paid) = try await lab.paidOrder()
      let reply = try await lab.notify(try await lab.refund(paid).notification)
      try expect(reply.isSuccess, "a 2xx")
    },
    ConformanceCheck(
      "notification-grants-none", "a notification about a purchase without a claim credits no account", taken
    ) { lab in
      let plan = try await lab.plans().lower
      let paid = try await lab.pay(token: nil, storeAccount: lab.unique("apple"), product: plan)
      let before = (
        alice: try await lab.held(by: .alice, of: plan), bob: try await lab.held(by: .bob, of: plan)
      )
      _ = try await lab.notify(try await lab.renew(paid).notification)
      let after = (
        alice: try await lab.held(by: .alice, of: plan), bob: try await lab.held(by: .bob, of: plan)
      )
      try expect(after.alice == before.alice && after.bob == before.bob, "nothing for either account")
    },
  ]
}
