import AppStoreReceipts
import Foundation
public import PurchaseQueue

extension ReceiptForge {
  /// The app receipt of an account's device: what the store lists, in its order. With certificates it has an RSA signature
  /// under the test root, and the form is always DER. Else its certificates and its signature are made up.
  ///
  /// ``verify(_:)`` does not take it: the store's model has to record the issued receipts.
  public func appReceipt(
    of records: [StoreTransactionRecord], receiptType: String = "ProductionSandbox", createdAt: Timestamp,
    form: ForgedAppReceipt.Form = .der
  ) -> [UInt8] {
    func receipt(isTampered: Bool) -> ForgedAppReceipt {
      var receipt = ForgedAppReceipt(
        bundleID: bundleID, receiptType: receiptType, version: isTampered ? "43" : "42",
        creationDate: Self.dateText(createdAt),
        purchases: records.map { Self.purchase($0, quantity: isTampered ? 100 : Int64($0.quantity)) })
      if let broken { receipt.opaqueValue = Array(broken.rawValue.utf8) }
      return receipt
    }
    // Made-up certificates have no defect that shows, so the content has one.
    guard let identity else { return receipt(isTampered: broken != nil).bytes(form) }
    let signed = receipt(isTampered: false).payload().encoded()
    let shown = broken == .tamperedPayload ? receipt(isTampered: true).payload().encoded() : signed
    return SignedReceipt(chain: identity.receipts, broken: broken).bytes(around: shown, signed: signed)
  }

  private static func purchase(_ record: StoreTransactionRecord, quantity: Int64) -> ForgedPurchase {
    var purchase = ForgedPurchase(
      transactionID: record.transactionID, originalTransactionID: record.originalTransactionID,
      productID: record.productID)
    purchase.quantity = quantity
    purchase.purchaseDate = dateText(record.purchasedAt)
    purchase.originalPurchaseDate = dateText(record.originalPurchasedAt)
    purchase.webOrderLineItemID = record.webOrderLineItemID.flatMap { Int64($0) } ?? 0
    purchase.isTrialPeriod = record.isTrial
    purchase.expiresDate = record.expiresAt.map(dateText) ?? ""
    purchase.cancellationDate = record.revokedAt.map(dateText) ?? ""
    purchase.productType =
      switch record.kind {
      case .nonConsumable: 0
      case .consumable: 1
      case .nonRenewing: 2
      case .autoRenewable, .bundle, .suite: 3
      }
    return purchase
  }

  /// The old receipt of one transaction; `environment` is left out in production, as the store does.
  public func transactionReceipt(
    of record: StoreTransactionRecord, form: ForgedTransactionReceipt.Form = .text
  ) -> [UInt8] {
    var receipt = ForgedTransactionReceipt(
      bundleID: bundleID, transactionID: record.transactionID, productID: record.productID,
      purchasedAt: record.purchasedAt.milliseconds, expires: record.expiresAt?.milliseconds,
      environment: record.environment == .production ? nil : record.environment.rawValue)
    // The answer of verifyReceipt has the same fields, with underscores (StoreFacts a.7).
    let answer = VerifyReceiptForge(bundleID: bundleID, environment: record.environment)
    for (name, value) in answer.oldTransaction(record).object ?? [:] {
      receipt[String(name.map { $0 == "_" ? "-" : $0 })] = value.string
    }
    // The field order of a dictionary differs from run to run.
    receipt.purchaseInfo.sort { $0.key < $1.key }
    return receipt.bytes(form)
  }

  /// Whole seconds, as app receipts have them.
  private static func dateText(_ timestamp: Timestamp) -> String {
    Date(timeIntervalSince1970: Double(timestamp.milliseconds / 1_000)).formatted(.iso8601)
  }
}
