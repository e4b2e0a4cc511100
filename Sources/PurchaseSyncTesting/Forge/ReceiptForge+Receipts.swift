import AppStoreReceipts
import Foundation
public import PurchaseQueue

extension ReceiptForge {
  /// The app receipt of an account's device: what the store lists, in its order, under made-up certificates.
  ///
  /// Unlike a signed transaction, it has no mark of this forge: the store's model has to record the issued receipts.
  public func appReceipt(
    of records: [StoreTransactionRecord], receiptType: String = "ProductionSandbox", createdAt: Timestamp,
    form: ForgedAppReceipt.Form = .der
  ) -> [UInt8] {
    let purchases = records.map { record in
      var purchase = ForgedPurchase(
        transactionID: record.transactionID, originalTransactionID: record.originalTransactionID,
        productID: record.productID)
      purchase.quantity = Int64(record.quantity)
      purchase.purchaseDate = Self.dateText(record.purchasedAt)
      purchase.originalPurchaseDate = Self.dateText(record.originalPurchasedAt)
      purchase.webOrderLineItemID = record.webOrderLineItemID.flatMap { Int64($0) } ?? 0
      purchase.isTrialPeriod = record.isTrial
      purchase.expiresDate = record.expiresAt.map(Self.dateText) ?? ""
      purchase.cancellationDate = record.revokedAt.map(Self.dateText) ?? ""
      purchase.productType =
        switch record.kind {
        case .nonConsumable: 0
        case .consumable: 1
        case .nonRenewing: 2
        case .autoRenewable: 3
        }
      return purchase
    }
    return ForgedAppReceipt(
      bundleID: bundleID, receiptType: receiptType, creationDate: Self.dateText(createdAt),
      purchases: purchases
    ).bytes(form)
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
