import AppStoreDocuments
import AppStoreReceipts

/// The fields that only one kind of document has, as names and values, without secrets and proofs.
struct DecodeDetails {
  private(set) var rows: [(name: String, value: String)] = []

  init(_ document: StoreDocument) {
    switch document.content {
    case .appReceipt(let receipt): add(receipt)
    case .transactionReceipt(let receipt):
      add("bundleVersion", receipt.bundleVersion)
      add("itemID", receipt.itemID)
    case .verifyReceiptRequest(let request):
      add("receiptCharacters", "\(request.receiptData.utf8.count)")
      add("hasPassword", "\(request.password != nil)")
      add("excludesOldTransactions", request.excludesOldTransactions.map { "\($0)" })
    case .verifyReceiptResponse(let response): add(response)
    case .transaction(let transaction): add(transaction)
    case .renewalInfo(let renewal): add(renewal)
    case .appTransaction(let app):
      add("applicationVersion", app.applicationVersion)
      add("originalApplicationVersion", app.originalApplicationVersion)
      add("originalPurchaseDate", DecodeReport.utc(app.originalPurchaseDate))
    case .notificationV1(let notification): add("notificationType", notification.kind.rawValue)
    case .notificationV2(let notification):
      add("notificationType", notification.kind.rawValue)
      add("subtype", notification.subtype?.rawValue)
      add("signedDate", DecodeReport.utc(notification.signedDate))
      add("unclaimedSeats", notification.unclaimInfo.map { "\($0.seatClaimIDs.count)" })
    case .serverAPIResponse(let response):
      add("signedFields", "\(response.signedFields.count)")
      add("hasMore", response.hasMore.map { "\($0)" })
    case .transactionObject: break
    case .incompleteTransaction(let transaction):
      add("transactionID", transaction.transactionID)
      add("originalTransactionID", transaction.originalTransactionID)
      add("productID", transaction.productID)
    case .retentionRequest(let request):
      add("originalTransactionID", request.originalTransactionID)
      add("productID", request.productID)
      add("locale", request.locale)
      add("signedDate", DecodeReport.utc(request.signedDate))
    case .renewalObject(let renewal):
      add("originalTransactionID", renewal.originalTransactionID)
      add("productID", renewal.productID)
      add("autoRenewProductID", renewal.autoRenewProductID)
      add("willAutoRenew", renewal.willAutoRenew.map { "\($0)" })
      add("isInBillingRetryPeriod", renewal.isInBillingRetryPeriod.map { "\($0)" })
    case .receiptObject(let receipt):
      add("receiptType", receipt.receiptType)
      add("applicationVersion", receipt.applicationVersion)
    }
  }

  private mutating func add(_ name: String, _ value: String?) {
    if let value { rows.append((name, value)) }
  }

  private mutating func add(_ receipt: AppReceipt) {
    add("receiptType", receipt.receiptType)
    add("applicationVersion", receipt.applicationVersion)
    add("originalApplicationVersion", receipt.originalApplicationVersion)
    add("creationDate", DecodeReport.utc(receipt.receiptCreationDate))
    add("expirationDate", DecodeReport.utc(receipt.expirationDate))
    let unknown = receipt.unknownAttributes.map { "\($0.type)" }
    add("unknownAttributes", unknown.isEmpty ? nil : unknown.joined(separator: " "))
  }

  private mutating func add(_ response: VerifyReceiptResponse) {
    add("status", response.status.map { "\($0.rawValue)" })
    add("meaning", response.status?.meaning)
    add("isRetryable", response.isRetryable.map { "\($0)" })
    switch response.receipt {
    case .app(let receipt): add("style", receipt.transactions.isEmpty ? nil : "unified")
    case .transaction: add("style", "perTransaction")
    case nil: break
    }
    add("pendingRenewals", response.pendingRenewals.isEmpty ? nil : "\(response.pendingRenewals.count)")
  }

  private mutating func add(_ transaction: SignedTransaction) {
    add("type", transaction.kind?.rawValue)
    add("ownership", transaction.ownership?.rawValue)
    add("reason", transaction.reason?.rawValue)
    add("signedDate", DecodeReport.utc(transaction.signedDate))
    add("hasAppAccountToken", "\(transaction.appAccountToken != nil)")
    add("isUpgraded", transaction.isUpgraded ? "true" : nil)
    add("revocationType", transaction.revocationType?.rawValue)
    add("revocationPercentage", transaction.revocationPercentage.map(DecodeReport.percentage))
    add("refundFinding", transaction.refundFinding?.rawValue)
    add("bundleProductID", transaction.bundle?.productID)
    add("bundleTransactionID", transaction.bundle?.transactionID)
    add("isUpgradedToBundle", transaction.isUpgradedToBundle ? "true" : nil)
    add("invitationManagement", transaction.multiSeatInfo?.invitations?.rawValue)
    add("revokedSeatQuantity", transaction.multiSeatInfo?.revokedSeats.map { "\($0)" })
    add("seats", transaction.multiSeatInfo.map { _ in "\(transaction.seats)" })
    add("additionalTransactionReason", transaction.additionalReason?.rawValue)
  }

  private mutating func add(_ renewal: SignedRenewalInfo) {
    add("originalTransactionID", renewal.originalTransactionID)
    add("productID", renewal.productID)
    add("autoRenewProductID", renewal.autoRenewProductID)
    add("willAutoRenew", renewal.willAutoRenew.map { "\($0)" })
    add("isInBillingRetryPeriod", renewal.isInBillingRetryPeriod.map { "\($0)" })
    add("gracePeriodExpiresDate", DecodeReport.utc(renewal.gracePeriodExpiresDate))
    add("bundleProductID", renewal.bundle?.productID)
    add("willUnbundle", renewal.willUnbundle.map { "\($0)" })
    add("renewalQuantity", renewal.renewalSeats.map { "\($0)" })
  }
}
