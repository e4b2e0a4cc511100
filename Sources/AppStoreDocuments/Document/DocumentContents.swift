import AppStoreReceipts

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The content of a document: its transactions, its subscriptions, and the parts that cannot be decoded.
struct DocumentContents {
  var transactions: [ListedTransaction] = []
  var facts = SubscriptionFacts()
  var undecodable: [ReceiptDecodingError] = []
  /// The bundle ids in the documents inside.
  var bundleIDs: Set<String> = []

  /// Pass true for `isInner` for a document inside of another one. It may contain no further request, so that
  /// no input controls the depth.
  init(_ content: StoreDocument.Content, _ failures: [ReceiptDecodingError], isInner: Bool) {
    undecodable = failures
    switch content {
    case .appReceipt(let receipt): add(receipt)
    case .transactionReceipt(let receipt):
      transactions = [ListedTransaction(receipt)]
      facts = SubscriptionFacts(receipt)
    case .verifyReceiptRequest(let request): if !isInner { add(request) }
    case .verifyReceiptResponse(let response):
      add(response.transactions, environment: response.environment)
      facts = SubscriptionFacts(response)
    case .transaction(let transaction): add(transaction)
    case .renewalInfo(let renewal): facts = SubscriptionFacts(transactions: [], renewals: [renewal])
    case .appTransaction, .retentionRequest, .incompleteTransaction: break
    case .notificationV1(let notification):
      add(notification.transactions, environment: notification.storeEnvironment)
      facts = SubscriptionFacts(notification)
      if let bundleID = notification.unifiedReceipt?.bundleID { bundleIDs = [bundleID] }
    case .notificationV2(let notification): add(notification)
    case .serverAPIResponse(let response): add(response)
    case .transactionObject(let transaction): addPeriods([transaction], environment: nil)
    case .renewalObject(let renewal): add(renewal)
    case .receiptObject(let receipt): addPeriods(receipt.transactions, environment: receipt.environment)
    }
  }

  private mutating func add(_ receipt: AppReceipt) {
    let environment = receipt.environment
    transactions.reserveCapacity(receipt.inApp.count)
    for purchase in receipt.inApp {
      transactions.append(ListedTransaction(purchase, environment: environment))
    }
    facts = SubscriptionFacts(receipt)
  }

  private mutating func add(_ items: [ReceiptTransaction], environment: StoreEnvironment?) {
    transactions = items.map { ListedTransaction($0, environment: environment) }
  }

  /// The same, of a document whose transactions are all that it says of subscriptions.
  private mutating func addPeriods(_ items: [ReceiptTransaction], environment: StoreEnvironment?) {
    add(items, environment: environment)
    for item in items {
      if let period = SubscriptionPeriod(item, environment: environment) { facts.add(period) }
    }
  }

  private mutating func add(_ transaction: SignedTransaction) {
    transactions.append(ListedTransaction(transaction))
    if let bundleID = transaction.bundleID { bundleIDs.insert(bundleID) }
    facts.merge(SubscriptionFacts(transactions: [transaction]))
  }

  private mutating func add(_ renewal: PendingRenewal) {
    guard let id = renewal.originalTransactionID else { return }
    facts.add(SubscriptionRenewal(renewal), originalTransactionID: id)
  }

  /// Decodes the receipt in a request as a document of its own. It cannot be a request again.
  private mutating func add(_ request: VerifyReceiptRequest) {
    do throws(ReceiptDecodingError) {
      let receipt = try StoreDocument(decoding: Array(request.receiptData.utf8), isInner: true)
      guard receipt.kind.isProof else {
        throw .field("receipt-data", "a receipt, not a document of kind \(receipt.kind.rawValue)")
      }
      for error in receipt.undecodable { list(error.inside("receipt-data")) }
      transactions = receipt.transactions
      facts = receipt.subscriptionFacts
      if let bundleID = receipt.bundleID { bundleIDs = [bundleID] }
    } catch {
      list(error.inside("receipt-data"))
    }
  }

  private mutating func add(_ notification: ServerNotificationV2) {
    guard let details = notification.details else { return }
    let signed = [
      ("data.signedTransactionInfo", details.signedTransaction),
      ("data.signedRenewalInfo", details.signedRenewalInfo),
    ]
    for case (let path, let jws?) in signed {
      add(jws, at: path, state: details.subscriptionState, isInNotification: true)
    }
  }

  private mutating func add(_ response: ServerAPIResponse) {
    for field in response.signedFields {
      add(field.jws, at: field.path, state: field.subscriptionState, isInNotification: false)
    }
  }

  private mutating func add(
    _ jws: String, at path: String, state: SubscriptionState?, isInNotification: Bool
  ) {
    let findings = DocumentFindings()
    do throws(ReceiptDecodingError) {
      let content = try JSONDocument(jws: Array(jws.utf8), findings).readSigned().content
      for error in findings.failures { list(error.inside(path)) }
      switch content {
      case .transaction(let transaction): add(transaction)
      case .renewalInfo(let renewal):
        if let id = renewal.originalTransactionID ?? transactions.last?.originalTransactionID {
          facts.add(SubscriptionRenewal(renewal, state: state), originalTransactionID: id)
        }
      case .notificationV2(let notification) where !isInNotification: add(notification)
      default: break
      }
    } catch {
      list(error.inside(path))
    }
  }

  private mutating func list(_ error: ReceiptDecodingError) {
    if undecodable.count < StoreDocument.maximumUndecodable { undecodable.append(error) }
  }
}
