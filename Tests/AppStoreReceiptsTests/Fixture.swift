import AppStoreDocuments
import Foundation

/// Samples of the store's answers, made by hand and anonymised. None is a real receipt.
enum Fixture: String, CaseIterable {
  case activeTransactionReceipt = "transaction-receipt-active-status-0"
  case lapsedTransactionReceipt = "transaction-receipt-lapsed-status-21006"
  case numericTransactionReceipt = "transaction-receipt-numeric-fields"
  case cancelledRenewal = "unified-receipt-cancelled-renewal"
  case numericConsumable = "unified-receipt-consumable-numeric-fields"
  case changePending = "plan-change-deferred-pending"
  case changeEffective = "plan-change-deferred-effective"
  case changeAtOnce = "plan-change-immediate"

  var data: Data {
    get throws {
      let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      return try Data(contentsOf: folder.appendingPathComponent("Fixtures/\(rawValue).json"))
    }
  }

  var response: VerifyReceiptResponse { get throws { try VerifyReceiptResponse(json: data) } }
}
