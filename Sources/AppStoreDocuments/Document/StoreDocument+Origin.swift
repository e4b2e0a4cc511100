public import AppStoreReceipts

extension StoreDocument {
  /// The store environment: from the document itself, otherwise from the documents inside of it if they
  /// agree.
  public var environment: StoreEnvironment? {
    let stated: StoreEnvironment? =
      switch content {
      case .appReceipt(let receipt): receipt.environment
      case .transactionReceipt(let receipt): receipt.environment
      case .verifyReceiptResponse(let response): response.environment
      case .transaction(let transaction): transaction.isEnvironmentStated ? transaction.environment : nil
      case .renewalInfo(let renewal): renewal.environment
      case .appTransaction(let app): app.environment
      case .notificationV1(let notification): notification.storeEnvironment
      case .notificationV2(let notification): notification.environment
      case .serverAPIResponse(let response): response.environment
      case .receiptObject(let receipt): receipt.environment
      case .retentionRequest(let request): request.environment
      case .incompleteTransaction(let transaction): transaction.environment
      case .verifyReceiptRequest, .transactionObject, .renewalObject: nil
      }
    return stated ?? only(Set(transactions.compactMap(\.environment)))
  }

  /// The app's bundle id: from the document itself, otherwise from the documents inside of it if they agree.
  /// Compare it with your own: a genuine receipt of another app proves nothing.
  public var bundleID: String? {
    let stated: String? =
      switch content {
      case .appReceipt(let receipt): receipt.bundleID
      case .transactionReceipt(let receipt): receipt.bundleID
      case .verifyReceiptResponse(let response): response.bundleID
      case .transaction(let transaction): transaction.bundleID
      case .renewalInfo, .renewalObject: nil
      case .appTransaction(let app): app.bundleID
      case .notificationV1(let notification): notification.bundleID
      case .notificationV2(let notification): notification.bundleID
      case .serverAPIResponse(let response): response.bundleID
      case .transactionObject(let transaction): transaction.oldStyle?.bundleID
      case .receiptObject(let receipt): receipt.bundleID
      case .incompleteTransaction(let transaction): transaction.bundleID
      case .verifyReceiptRequest, .retentionRequest: nil
      }
    return stated ?? only(innerBundleIDs)
  }

  private func only<Name>(_ names: Set<Name>) -> Name? { names.count == 1 ? names.first : nil }
}
