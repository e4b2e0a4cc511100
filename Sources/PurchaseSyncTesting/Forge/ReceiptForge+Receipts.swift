import AppStoreReceipts
import Foundation
public import PurchaseQueue

extension ReceiptForge {
  /// The app receipt of an account's device: what the store lists, in its order, under made-up certificates.
  ///
  /// Nothing marks it as this forge's work, unlike `signedTransaction`: a model of the backend has to know what it
  /// gave out.
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
      purchase.originalPurchaseDate = purchase.purchaseDate
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
    receipt["original-transaction-id"] = record.originalTransactionID
    receipt["quantity"] = String(record.quantity)
    return receipt.bytes(form)
  }

  /// Whole seconds, as app receipts have them.
  private static func dateText(_ timestamp: Timestamp) -> String {
    Date(timeIntervalSince1970: Double(timestamp.milliseconds / 1_000)).formatted(.iso8601)
  }
}
