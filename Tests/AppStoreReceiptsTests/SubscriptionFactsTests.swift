import AppStoreDocuments
import AppStoreReceipts
import Foundation
import Testing

@Suite struct SubscriptionFactsTests {
  private func signed(_ members: String) throws -> SignedTransaction {
    try SignedTransaction(
      payload: Data(
        #"{"transactionId":"2","originalTransactionId":"1","productId":"p","purchaseDate":10,\#(members)}"#
          .utf8))
  }

  @Test(
    arguments: [
      (#""offerType":1,"offerDiscountType":"FREE_TRIAL""#, true, false),
      (#""offerType":1,"offerDiscountType":"PAY_AS_YOU_GO""#, false, true),
      (#""offerType":2,"offerDiscountType":"PAY_UP_FRONT""#, false, false),
      (#""offerType":1,"price":0"#, true, false), (#""offerType":1,"price":990"#, false, true),
      (#""offerType":1"#, nil, nil), (#""x":1"#, false, false),
    ] as [(String, Bool?, Bool?)])
  func `Trial and introductory price are derived from the offer`(
    members: String, trial: Bool?, intro: Bool?
  ) throws {
    let period = try #require(SubscriptionPeriod(signed(#""expiresDate":20,\#(members)"#)))
    #expect(period.isTrial == trial && period.isInIntroductoryOffer == intro)
  }

  @Test func `Only auto-renewable subscriptions have periods`() throws {
    #expect(try SubscriptionPeriod(signed(#""type":"Consumable""#)) == nil)
    #expect(try SubscriptionPeriod(signed(#""type":"Non-Renewing Subscription","expiresDate":20"#)) == nil)
    let period = try #require(
      SubscriptionPeriod(
        signed(
          #""type":"Auto-Renewable Subscription","expiresDate":20,"revocationDate":15,"isUpgraded":true,"signedDate":30"#
        )))
    #expect(period.expiresDate == 20 && period.revocationDate == 15 && period.isUpgraded && period.asOf == 30)
    #expect(period.environment == nil)
  }

  @Test func `A notification of version 2 states grace period and billing retry`() throws {
    func facts(_ state: Int, grace: String) throws -> SubscriptionFacts {
      let transaction = jws(
        payload:
          #"{"transactionId":"1","productId":"p","purchaseDate":10,"expiresDate":20,"environment":"Production"}"#
      )
      let renewal = jws(payload: #"{"autoRenewProductId":"p","autoRenewStatus":1\#(grace)}"#)
      let data =
        #"{"status":\#(state),"signedTransactionInfo":"\#(transaction)","signedRenewalInfo":"\#(renewal)"}"#
      return try SubscriptionFacts(
        ServerNotificationV2(jws: jws(payload: #"{"notificationType":"DID_FAIL_TO_RENEW","data":\#(data)}"#)))
    }
    let grace = try facts(4, grace: #","gracePeriodExpiresDate":30"#)
    #expect(SubscriptionStatus.all(in: grace, at: 25).map(\.state) == [.gracePeriod])
    #expect(SubscriptionStatus.all(in: grace, at: 30).map(\.state) == [.billingRetry])
    #expect(SubscriptionStatus.all(in: grace, at: 25).map(\.environment) == [.production])
    #expect(SubscriptionStatus.all(in: try facts(3, grace: ""), at: 25).map(\.state) == [.billingRetry])
    #expect(SubscriptionStatus.all(in: try facts(2, grace: ""), at: 25).map(\.state) == [.lapsed(nil)])
  }

  @Test func `Signed transactions and renewal infos become facts`() throws {
    let transactions = [try signed(#""expiresDate":20"#), try signed(#""type":"Consumable""#)]
    let renewal = try SignedRenewalInfo(
      payload: Data(#"{"originalTransactionId":"1","autoRenewProductId":"q","autoRenewStatus":1}"#.utf8))
    let nameless = try SignedRenewalInfo(payload: Data(#"{"autoRenewStatus":0}"#.utf8))
    let facts = SubscriptionFacts(transactions: transactions, renewals: [renewal, nameless])
    let status = try #require(SubscriptionStatus.all(in: facts, at: 15).first)
    #expect(status.isChangePending && status.nextProductID == "q")
  }

  @Test func `A notification of version 1 is read from its unified receipt or from the older fields`() throws
  {
    let item = #"{"transaction_id":"1","product_id":"p","web_order_line_item_id":"7","expires_date":"20"}"#
    func status(_ members: String, at now: Int64) throws -> SubscriptionStatus? {
      let json = Data(#"{"notification_type":"CANCEL",\#(members)}"#.utf8)
      return SubscriptionStatus.all(in: SubscriptionFacts(try ServerNotificationV1(json: json)), at: now)
        .first
    }
    let unified = try status(
      #""unified_receipt":{"latest_receipt_info":[\#(item)]},"auto_renew_status":"false""#, at: 5)
    #expect(unified?.state == .active && unified?.willAutoRenew == false)
    let both = try status(
      """
      "unified_receipt":{"latest_receipt_info":\(item),"pending_renewal_info":
        [{"original_transaction_id":"1","auto_renew_status":"1"}]},"auto_renew_status":"false"
      """, at: 5)
    #expect(both?.willAutoRenew == true)
    let cancelled =
      #""latest_receipt_info":\#(item),"web_order_line_item_id":"7","cancellation_date_ms":"15""#
    #expect(try status(cancelled, at: 14)?.entitledUntil == 15)
    #expect(try status(cancelled, at: 15)?.state == .refunded)
    let other = #""latest_receipt_info":\#(item),"web_order_line_item_id":"8","cancellation_date_ms":"15""#
    #expect(try status(other, at: 15)?.state == .active)
    let expired = try status(#""latest_expired_receipt_info":\#(item),"expiration_intent":"2""#, at: 25)
    #expect(expired?.state == .lapsed(.billingError))
  }

  @Test func `Renewals without an original id belong to the latest subscription of their product`() throws {
    let response = try VerifyReceiptResponse(
      json: Data(
        """
        {"status":0,"receipt":{"in_app":[],"request_date_ms":"99"},"latest_receipt_info":[
          {"transaction_id":"1","product_id":"p","expires_date_ms":"20"},
          {"transaction_id":"2","product_id":"p","expires_date_ms":"40"}],
         "pending_renewal_info":[{"product_id":"p","auto_renew_status":"0"},{"product_id":"zz","auto_renew_status":"1"}]}
        """.utf8))
    let facts = SubscriptionFacts(response)
    #expect(facts.renewals.keys.sorted() == ["2"])
    #expect(facts.renewals["2"]?.willAutoRenew == false && facts.renewals["2"]?.asOf == 99)
    #expect(facts.periods.map(\.asOf) == [99, 99])
  }
}
