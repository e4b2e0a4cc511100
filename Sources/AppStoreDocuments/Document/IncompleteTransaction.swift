public import AppStoreReceipts

/// What can be read of a transaction that lacks a required field, or has an unreadable one. It proves nothing, and
/// no purchase may be granted or settled by it: ``StoreDocument/undecodable`` says what is wrong. It is never one of
/// ``StoreDocument/transactions``, whether it is the document or a part of one.
public struct IncompleteTransaction: Sendable, Hashable {
  /// `transactionId` or `transaction_id`
  public var transactionID: String?
  /// `originalTransactionId` or `original_transaction_id`
  public var originalTransactionID: String?
  /// `productId` or `product_id`
  public var productID: String?
  /// `bundleId` or `bid`
  public var bundleID: String?
  /// `environment`
  public var environment: StoreEnvironment?

  /// Reads either style. `input` is lenient; its errors were named before.
  init(_ input: JSONFields) {
    var fields = input.strict
    func first(_ names: [String]) -> String? {
      for name in names {
        do throws(ReceiptDecodingError) {
          if let text = try fields.identifier(name) { return text }
        } catch {
          // The error was named when the transaction was read; here the field counts as absent.
          continue
        }
      }
      return nil
    }
    transactionID = first(["transactionId", "transaction_id"])
    originalTransactionID = first(["originalTransactionId", "original_transaction_id"])
    productID = first(["productId", "product_id"])
    bundleID = first(["bundleId", "bid"])
    environment = first(["environment"]).map(StoreEnvironment.init(rawValue:))
  }

  var isEmpty: Bool {
    transactionID == nil && originalTransactionID == nil && productID == nil && bundleID == nil
      && environment == nil
  }
}
