import Foundation

/// The inputs from which the fuzzers of the JSON decoders start. They contain every field of `StoreFacts`, so that one
/// mutation reaches each. Compiled into `make-seeds`.
enum JSONSeeds {
  /// Answers of both styles, a request, and the values that JSON itself can have.
  static let verifyReceipt = [unified, oldStyle, lapsed, request, odd, #"{"status":21007}"#]
  static let signedTransaction = [
    transaction, renewalInfo, appTransaction, header, #"{"requestIdentifier":"1","userLocale":"en"}"#,
    jws(transaction),
  ]
  static let notification =
    [version1, #"{"signedPayload":"\#(jws(version2))"}"#, version2, summary, external, appData]
    + verifyReceipt

  private static func jws(_ payload: String) -> String {
    [header, payload, "signature"].map(base64URL).joined(separator: ".")
  }

  private static func base64URL(_ text: String) -> String {
    Data(text.utf8).base64EncodedString()
      .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
      .replacingOccurrences(of: "=", with: "")
  }

  private static let header =
    #"{"alg":"ES256","x5c":["MA==","MA=="],"kid":"Apple_Xcode_Key","typ":"JWT"}"#

  private static func dates(_ name: String) -> String {
    #""\#(name)":"2019-08-21 08:49:19 Etc/GMT","\#(name)_ms":"1566377359000","#
      + #""\#(name)_pst":"2019-08-21 01:49:19 America/Los_Angeles""#
  }

  private static let item =
    #"{"quantity":"1","product_id":"monthly","transaction_id":"230000609391139","#
    + #""original_transaction_id":"230000609391139","web_order_line_item_id":"230000243264881","#
    + dates("purchase_date") + "," + dates("original_purchase_date") + "," + dates("expires_date") + ","
    + dates("cancellation_date")
    + #","cancellation_reason":"1","is_trial_period":"false","is_in_intro_offer_period":"true","#
    + #""is_upgraded":"true","in_app_ownership_type":"FAMILY_SHARED","#
    + #""subscription_group_identifier":"20548697","promotional_offer_id":"p","offer_code_ref_name":"o","#
    + #""app_account_token":"0eaa3b5c-39c5-4d42-a2c1-1ab75ee4c5ab"}"#

  private static let pending =
    #"{"auto_renew_product_id":"yearly","product_id":"monthly","original_transaction_id":"230000609391139","#
    + #""auto_renew_status":"1","expiration_intent":"2","is_in_billing_retry_period":"1","#
    + dates("grace_period_expires_date") + #","price_consent_status":"0","price_increase_status":"0","#
    + #""offer_code_ref_name":"o","promotional_offer_id":"p"}"#

  private static let unified =
    #"{"status":0,"environment":"Production","is-retryable":true,"receipt":{"receipt_type":"Production","#
    + #""adam_id":892617314,"app_item_id":892617314,"bundle_id":"com.example.app","application_version":"7","#
    + #""download_id":500000000000000007,"version_external_identifier":8,"original_application_version":"1.0","#
    + dates("receipt_creation_date") + "," + dates("request_date") + "," + dates("original_purchase_date")
    + ","
    + dates("expiration_date") + "," + dates("preorder_date") + #","in_app":[\#(item)]},"#
    + #""latest_receipt":"MIIT","latest_receipt_info":[\#(item)],"pending_renewal_info":[\#(pending)]}"#

  private static let oldItem =
    #"{"bid":"com.example.app","bvrs":"7","item_id":"1","app_item_id":"2","version_external_identifier":"3","#
    + #""unique_identifier":"a","unique_vendor_identifier":"b","quantity":"1","product_id":"monthly","#
    + #""transaction_id":"1000","original_transaction_id":"999","web_order_line_item_id":"5","#
    + dates("purchase_date") + "," + dates("original_purchase_date")
    + #","expires_date":"1566377359000","expires_date_formatted":"2019-08-21 08:49:19 Etc/GMT","#
    + #""expires_date_formatted_pst":"2019-08-21 01:49:19 America/Los_Angeles"}"#

  private static let oldStyle =
    #"{"receipt":\#(oldItem),"status":0,"latest_receipt":"ewo=","latest_receipt_info":\#(oldItem),"#
    + #""auto_renew_status":1,"auto_renew_product_id":"yearly"}"#

  private static let lapsed =
    #"{"receipt":\#(oldItem),"status":21006,"latest_expired_receipt_info":\#(oldItem),"auto_renew_status":0,"#
    + #""expiration_intent":"1","is_in_billing_retry_period":"0","exception":"e"}"#

  private static let request =
    #"{"receipt-data":"MIIT\/+==","password":"0123456789abcdef","exclude-old-transactions":true}"#

  private static let odd =
    #"{"a":[null,true,false,-0,1e3,1.5,18446744073709551616,"\ud83d\ude00\u0000\n","ü"],"b":{},"c":[]}"#

  private static let transaction =
    #"{"transactionId":"1000","originalTransactionId":"999","webOrderLineItemId":"5","bundleId":"com.example.app","#
    + #""productId":"monthly","subscriptionGroupIdentifier":"6F3A93AB","purchaseDate":1697679936049.7297,"#
    + #""originalPurchaseDate":-62135769600000,"expiresDate":1700358336049,"signedDate":1697679936056,"#
    + #""revocationDate":1698000000000,"quantity":1,"type":"Auto-Renewable Subscription","#
    + #""appAccountToken":"0eaa3b5c-39c5-4d42-a2c1-1ab75ee4c5ab","inAppOwnershipType":"PURCHASED","#
    + #""isUpgraded":false,"offerType":1,"offerIdentifier":"o","offerDiscountType":"FREE_TRIAL","#
    + #""offerPeriod":"P1M","environment":"Xcode","transactionReason":"RENEWAL","storefront":"USA","#
    + #""storefrontId":"143441","price":4990,"currency":"USD","appTransactionId":"7","#
    + #""previousOriginalTransactionId":"8","revocationReason":1,"revocationType":"REFUND_PRORATED","#
    + #""revocationPercentage":50000,"billingPlanType":"MONTHLY","commitmentInfo":{"billingPeriodNumber":1,"#
    + #""totalBillingPeriods":12,"commitmentExpiresDate":1700358336049,"commitmentPrice":59880},"#
    + #""advancedCommerceInfo":{"taxRate":"0.1"},"deviceVerification":"MA==","deviceVerificationNonce":"n"}"#

  private static let renewalInfo =
    #"{"originalTransactionId":"999","productId":"monthly","autoRenewProductId":"yearly","environment":"Sandbox","#
    + #""currency":"USD","appTransactionId":"7","appAccountToken":"t","offerIdentifier":"o","#
    + #""offerDiscountType":"PAY_AS_YOU_GO","offerPeriod":"P1M","renewalBillingPlanType":"MONTHLY","#
    + #""autoRenewStatus":1,"expirationIntent":2,"isInBillingRetryPeriod":true,"priceIncreaseStatus":0,"#
    + #""offerType":2,"gracePeriodExpiresDate":1700358336049,"recentSubscriptionStartDate":1697679936049,"#
    + #""renewalDate":1700358336049,"signedDate":1697679936056,"renewalPrice":4990,"#
    + #""eligibleWinBackOfferIds":["w"],"commitmentInfo":{"commitmentAutoRenewProductId":"y","#
    + #""commitmentAutoRenewStatus":1,"commitmentRenewalBillingPlanType":"MONTHLY","#
    + #""commitmentRenewalDate":1700358336049,"commitmentRenewalPrice":4990},"advancedCommerceInfo":{}}"#

  private static let appTransaction =
    #"{"receiptType":"Xcode","appAppleId":1,"bundleId":"com.example.app","applicationVersion":"1","#
    + #""versionExternalIdentifier":2,"receiptCreationDate":1697679936049.7,"#
    + #""originalPurchaseDate":-62135769600000,"originalApplicationVersion":"1","deviceVerification":"MA==","#
    + #""deviceVerificationNonce":"n","preorderDate":1,"appTransactionId":"7","originalPlatform":"iOS","#
    + #""requestDate":1697679936056,"signedDate":1}"#

  private static let version1 =
    #"{"notification_type":"DID_FAIL_TO_RENEW","environment":"PROD","password":"p","bid":"com.example.app","#
    + #""bvrs":"7","auto_renew_product_id":"yearly","auto_renew_adam_id":"5","auto_renew_status":"true","#
    + dates("auto_renew_status_change_date") + "," + dates("cancellation_date")
    + #","web_order_line_item_id":"5","expiration_intent":2,"original_transaction_id":999,"deprecation":"d","#
    + #""unified_receipt":{"environment":"Production","latest_receipt":"MIIT","latest_receipt_info":[\#(item)],"#
    + #""pending_renewal_info":[\#(pending)],"status":"OK"},"latest_receipt":"ewo=","#
    + #""latest_receipt_info":\#(oldItem),"latest_expired_receipt":"ewo=","#
    + #""latest_expired_receipt_info":\#(oldItem)}"#

  private static func version2(_ kind: String, _ part: String) -> String {
    #"{"notificationType":"\#(kind)","subtype":"UPGRADE","notificationUUID":"u","version":"2.0","#
      + #""signedDate":1697679936056,\#(part)}"#
  }

  private static let version2 = version2(
    "DID_CHANGE_RENEWAL_PREF",
    #""data":{"appAppleId":1,"bundleId":"com.example.app","bundleVersion":"7","environment":"Sandbox","#
      + #""signedTransactionInfo":"\#(jws(transaction))","signedRenewalInfo":"\#(jws(renewalInfo))","status":4,"#
      + #""consumptionRequestReason":"OTHER"}"#)

  private static let summary = version2(
    "RENEWAL_EXTENSION",
    #""summary":{"environment":"Production","appAppleId":1,"bundleId":"com.example.app","productId":"monthly","#
      + #""requestIdentifier":"r","storefrontCountryCodes":["USA"],"succeededCount":5,"failedCount":2}"#)

  private static let external = version2(
    "EXTERNAL_PURCHASE_TOKEN",
    #""externalPurchaseToken":{"externalPurchaseId":"SANDBOX_1","tokenCreationDate":1,"appAppleId":1,"#
      + #""bundleId":"com.example.app"}"#)

  private static let appData = version2(
    "RESCIND_CONSENT",
    #""appData":{"appAppleId":1,"bundleId":"com.example.app","environment":"Sandbox","#
      + #""signedAppTransactionInfo":"\#(jws(appTransaction))"}"#)
}
