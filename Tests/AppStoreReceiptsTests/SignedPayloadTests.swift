import AppStoreDocuments
import AppStoreReceipts
import Foundation
import Testing

@Suite struct SignedPayloadTests {
  @Test func `Every field of a transaction is read`() throws {
    let transaction = try SignedTransaction(
      jws: jws(
        payload: """
          {"transactionId":"2","originalTransactionId":"1","webOrderLineItemId":"3","bundleId":"b","productId":"p",
           "subscriptionGroupIdentifier":"6F3A93AB","purchaseDate":10,"originalPurchaseDate":5,"expiresDate":20,
           "signedDate":30,"revocationDate":15,"quantity":1,"type":"Auto-Renewable Subscription",
           "appAccountToken":"t","inAppOwnershipType":"FAMILY_SHARED","isUpgraded":true,"offerType":1,
           "offerIdentifier":"o","offerDiscountType":"FREE_TRIAL","offerPeriod":"P1M","environment":"Xcode",
           "transactionReason":"RENEWAL","storefront":"DEU","storefrontId":"143443","price":10990,
           "currency":"EUR","appTransactionId":"a","previousOriginalTransactionId":"0","revocationReason":1,
           "revocationType":"REFUND_PRORATED","revocationPercentage":50000,"billingPlanType":"MONTHLY",
           "commitmentInfo":{"billingPeriodNumber":2,"totalBillingPeriods":12,"commitmentExpiresDate":99,
            "commitmentPrice":120000,"x":1},"advancedCommerceInfo":{"taxRate":"0.19"},
           "deviceVerification":"dv","deviceVerificationNonce":"n","later":[1]}
          """))
    #expect(transaction.webOrderLineItemID == "3" && transaction.subscriptionGroupID == "6F3A93AB")
    #expect(transaction.originalPurchaseDate == 5 && transaction.signedDate == 30)
    #expect(transaction.kind == .autoRenewable && transaction.ownership == .familyShared)
    #expect(transaction.isUpgraded && transaction.reason == .renewal)
    #expect(transaction.offerType == .introductory && transaction.offerDiscountType == .freeTrial)
    #expect(transaction.offerIdentifier == "o" && transaction.offerPeriod == "P1M")
    #expect(transaction.environment == .xcode && transaction.isEnvironmentStated)
    #expect(transaction.storefront == "DEU" && transaction.storefrontID == "143443")
    #expect(transaction.price == 10_990 && transaction.currency == "EUR")
    #expect(transaction.appTransactionID == "a" && transaction.previousOriginalTransactionID == "0")
    #expect(transaction.revocationReason == .problemWithApp && transaction.revocationType == .proratedRefund)
    #expect(transaction.revocationPercentage == 50_000 && transaction.billingPlanType == .monthly)
    #expect(transaction.commitment?.billingPeriod == 2 && transaction.commitment?.billingPeriods == 12)
    #expect(transaction.commitment?.expiresDate == 99 && transaction.commitment?.price == 120_000)
    #expect(transaction.commitment?.unknownFields == ["x": 1])
    #expect(transaction.advancedCommerceInfo == ["taxRate": "0.19"])
    #expect(transaction.deviceVerification == "dv" && transaction.deviceVerificationNonce == "n")
    #expect(transaction.unknownFields == ["later": [1]])
  }

  @Test func `Every field of a renewal info is read`() throws {
    let text = """
      {"originalTransactionId":"1","productId":"p","autoRenewProductId":"q","autoRenewStatus":1,
       "expirationIntent":2,"isInBillingRetryPeriod":true,"gracePeriodExpiresDate":4.75,"priceIncreaseStatus":0,
       "offerType":4,"offerIdentifier":"o","offerDiscountType":"PAY_UP_FRONT","offerPeriod":"P3M",
       "eligibleWinBackOfferIds":["w","x"],"recentSubscriptionStartDate":1,"renewalDate":2,"renewalPrice":3,
       "currency":"USD","renewalBillingPlanType":"BILLED_UPFRONT","signedDate":5,"environment":"Sandbox",
       "appAccountToken":"t","appTransactionId":"a","commitmentInfo":{"commitmentAutoRenewProductId":"c",
        "commitmentAutoRenewStatus":0,"commitmentRenewalBillingPlanType":"MONTHLY","commitmentRenewalDate":6,
        "commitmentRenewalPrice":7},"advancedCommerceInfo":{},"later":true}
      """
    let renewal = try SignedRenewalInfo(jws: jws(payload: text))
    #expect(try SignedRenewalInfo(payload: Data(text.utf8)) == renewal)
    #expect(renewal.originalTransactionID == "1" && renewal.productID == "p")
    #expect(renewal.autoRenewProductID == "q" && renewal.willAutoRenew == true)
    #expect(renewal.expirationIntent == .billingError && renewal.isInBillingRetryPeriod == true)
    #expect(renewal.gracePeriodExpiresDate == 4 && renewal.priceIncreaseStatus == .pending)
    #expect(renewal.offerType == .winBack && renewal.offerDiscountType == .payUpFront)
    #expect(renewal.offerIdentifier == "o" && renewal.offerPeriod == "P3M")
    #expect(renewal.eligibleWinBackOfferIDs == ["w", "x"])
    #expect(renewal.recentSubscriptionStartDate == 1 && renewal.renewalDate == 2 && renewal.renewalPrice == 3)
    #expect(renewal.currency == "USD" && renewal.renewalBillingPlanType == .upfront)
    #expect(renewal.signedDate == 5 && renewal.environment == .sandbox)
    #expect(renewal.appAccountToken == "t" && renewal.appTransactionID == "a")
    #expect(renewal.commitment?.autoRenewProductID == "c" && renewal.commitment?.autoRenewStatus == .off)
    #expect(renewal.commitment?.renewalBillingPlanType == .monthly && renewal.commitment?.renewalDate == 6)
    #expect(renewal.commitment?.renewalPrice == 7)
    #expect(renewal.advancedCommerceInfo == [:] && renewal.unknownFields == ["later": true])
    let empty = try SignedRenewalInfo(jws: jws(payload: "{}"))
    #expect(empty.willAutoRenew == nil && empty.eligibleWinBackOfferIDs.isEmpty)
    let later = try SignedRenewalInfo(jws: jws(payload: #"{"autoRenewStatus":7,"expirationIntent":99}"#))
    #expect(later.autoRenewStatus?.rawValue == 7 && later.willAutoRenew == nil)
    #expect(later.expirationIntent?.rawValue == 99)
  }

  @Test func `Every field of an app transaction is read`() throws {
    let text = """
      {"receiptType":"Xcode","appAppleId":123456789012,"bundleId":"b","applicationVersion":"2",
       "versionExternalIdentifier":9007199254740993,"receiptCreationDate":1697679936049.7297,
       "originalPurchaseDate":-62135769600000,"originalApplicationVersion":"1","deviceVerification":"dv",
       "deviceVerificationNonce":"n","preorderDate":3,"appTransactionId":"a","originalPlatform":"visionOS",
       "requestDate":1697679936711.0747,"signedDate":8,"later":0}
      """
    let app = try SignedAppTransaction(jws: jws(payload: text))
    #expect(try SignedAppTransaction(payload: Data(text.utf8)) == app)
    #expect(app.environment == .xcode && app.appID == 123_456_789_012 && app.bundleID == "b")
    #expect(app.applicationVersion == "2" && app.originalApplicationVersion == "1")
    #expect(app.versionExternalID == 9_007_199_254_740_993)
    #expect(app.receiptCreationDate == 1_697_679_936_049 && app.requestDate == 1_697_679_936_711)
    #expect(app.originalPurchaseDate == -62_135_769_600_000 && app.preorderDate == 3 && app.signedDate == 8)
    #expect(app.appTransactionID == "a" && app.originalPlatform == .visionOS)
    #expect(app.deviceVerification == "dv" && app.deviceVerificationNonce == "n")
    #expect(app.unknownFields == ["later": 0])
    #expect(try SignedAppTransaction(jws: jws(payload: "{}")).bundleID == nil)
  }

  @Test func `The header is read`() throws {
    let header = try JWSHeader(
      json: Data(#"{"alg":"ES256","kid":"Apple_Xcode_Key","typ":"JWT","x5c":["MII="],"crit":[]}"#.utf8))
    #expect(header.algorithm == "ES256" && header.keyID == "Apple_Xcode_Key" && header.type == "JWT")
    #expect(header.certificates == ["MII="] && header.isFromXcode)
    #expect(header.unknownFields == ["crit": []])
    let store = try CompactJWS("eyJhbGciOiJFUzI1NiIsIng1YyI6WyJhIiwiYiIsImMiXX0.e30.").decodedHeader
    #expect(store.certificates.count == 3 && !store.isFromXcode)
    for (text, location) in [
      ("[]", "header"), ("{", "header, byte 1"), (#"{"x5c":[1]}"#, "header.x5c[0]"),
      (#"{"alg":1}"#, "header.alg"),
      (#"{"x5c":"a"}"#, "header.x5c"),
    ] {
      #expect(decodingFailure { _ = try JWSHeader(json: Data(text.utf8)) }?.location == location)
    }
  }

  @Test(
    arguments: [
      (#"{"notificationType":"TEST","transactionId":"1"}"#, .notification),
      (#"{"autoRenewStatus":1,"originalTransactionId":"1"}"#, .renewalInfo),
      (#"{"autoRenewProductId":"p"}"#, .renewalInfo), (#"{"receiptType":"Sandbox"}"#, .appTransaction),
      (#"{"originalApplicationVersion":"1"}"#, .appTransaction), (#"{"transactionId":"1"}"#, .transaction),
      (#"{"requestIdentifier":"r","userLocale":"de"}"#, .retentionRequest), ("{}", .unknown),
    ] as [(String, SignedPayloadKind)])
  func `A payload is recognised by its fields`(payload: String, kind: SignedPayloadKind) throws {
    #expect(try SignedPayloadKind(jws: jws(payload: payload)) == kind)
    #expect(try SignedPayloadKind(payload: Data(payload.utf8)) == kind)
  }

  @Test func `A hostile value in any field is read or is an error that names the field`() {
    let values = [
      "null", "true", "[]", "{}", "\"\"", #""\u0000""#, "1e999", "-1e999", "99999999999999999999", "0.1",
      #""x""#, "[[1]]",
    ]
    let fields = [
      "transactionId", "productId", "purchaseDate", "expiresDate", "quantity", "isUpgraded", "offerType",
      "revocationReason", "price", "commitmentInfo", "advancedCommerceInfo", "environment", "autoRenewStatus",
      "gracePeriodExpiresDate", "eligibleWinBackOfferIds", "appAppleId", "receiptType", "x5c", "alg",
      "notificationType", "data", "summary", "signedDate", "subtype", "externalPurchaseToken", "appData",
    ]
    for field in fields {
      for value in values {
        let text = #"{"transactionId":"1","productId":"p","purchaseDate":1,"\#(field)":\#(value)}"#
        let data = Data(text.utf8)
        let errors = [
          decodingFailure { _ = try SignedTransaction(payload: data) },
          decodingFailure { _ = try SignedRenewalInfo(payload: data) },
          decodingFailure { _ = try SignedAppTransaction(payload: data) },
          decodingFailure { _ = try ServerNotificationV2(payload: data) },
          decodingFailure { _ = try JWSHeader(json: data) },
        ]
        for error in errors.compactMap(\.self) where !error.location.hasSuffix("notificationType") {
          #expect(error.location.contains(field), "\(error)")
        }
      }
    }
  }
}
