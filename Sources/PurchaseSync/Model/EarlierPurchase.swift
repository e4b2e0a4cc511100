import AppStoreReceipts
public import PurchaseQueue

/// One item of the list in which an earlier version of the app, or another library, kept purchases that were not sent.
/// ``SyncEngine/importPurchases(_:into:)`` takes it over.
public struct EarlierPurchase: Sendable {
  /// The item's name in the old list. The report names it, so that the app knows what to remove.
  public var id: String
  /// The account that bought; nil if that is not known: then the purchase is the device's, unless its account token or
  /// its original transaction names an owner.
  public var account: String?
  /// The number of its order at the backend; nil if there is none.
  public var orderNumber: String?

  enum Content: Sendable {
    /// A document of the store, and the transaction in it that is meant.
    case document([UInt8], transactionID: String?)
    case transaction(StoreTransaction)
  }
  var content: Content

  /// An item that holds a document of the store.
  ///
  /// - Parameters:
  ///   - id: The item's name in the old list.
  ///   - document: A signed transaction (JWS), an app receipt, or the old receipt of one transaction, as it is or in
  ///     base64.
  ///   - transactionID: Which transaction of an app receipt it is. Nil takes all of them, for the same account; an item
  ///     with an order number needs it if the receipt has several.
  ///   - account: The account that bought.
  ///   - orderNumber: The number of its order at the backend.
  public init(
    id: String, document: [UInt8], transactionID: String? = nil, account: String?, orderNumber: String? = nil
  ) {
    (self.id, self.account, self.orderNumber) = (id, account, orderNumber)
    content = .document(document, transactionID: transactionID)
  }

  /// An item whose transaction the app can describe itself, such as one that its receipt does not list yet.
  public init(id: String, transaction: StoreTransaction, account: String?, orderNumber: String? = nil) {
    (self.id, self.account, self.orderNumber) = (id, account, orderNumber)
    content = .transaction(transaction)
  }
}

extension EarlierPurchase: CustomStringConvertible, CustomReflectable {
  /// The name, never the document.
  public var description: String { id }
  /// As the description.
  public var customMirror: Mirror { Mirror(self, children: ["id": id]) }
}

/// What became of an old list.
public struct ImportReport: Sendable, Hashable {
  /// Items that the new queue holds, or has delivered already: **remove these from the old list, and no others**.
  public var taken: [String] = []
  /// Items that have to stay in the old list. The next import tries them again.
  public var kept: [Kept] = []
  /// Set if the queue's file was damaged: what could be read of it was taken over before the import.
  public var salvage: SalvageReport?

  /// An item that was not taken.
  public struct Kept: Sendable, Hashable {
    /// The item's name.
    public var id: String
    /// Why it stays.
    public var reason: Reason
    /// The reason in words, for a log: without document and account.
    public var detail: String
  }

  /// Why an item stays in the old list.
  @nonexhaustive
  public enum Reason: String, Sendable, Hashable, CaseIterable {
    /// The document cannot be decoded, or is none that proves a purchase.
    case unreadable
    /// The document does not hold the transaction that the item names, or holds none.
    case transactionMissing
    /// The item names an order, and its receipt holds several transactions: give the transaction's id.
    case orderAmbiguous
    /// The document is longer than `QueueLimits.payloadBytes`.
    case tooLong
    /// The queue has no capacity. Import again when some purchases are delivered.
    case queueFull
    /// It is in the queue's file, and the vault does not hold it yet: an uninstall would lose it.
    case unprotected
    /// The queue holds or has delivered it for the device or for another account: the store brought it before the list
    /// was imported. The list is the only record of its buyer: show it to support, or let the account adopt the device's
    /// purchases, and remove the item then.
    case ownerDiffers
    /// The queue refuses it: another transaction has its order, or its texts are too long.
    case refused
  }

  /// An empty report.
  public init() {}
}

extension EarlierPurchase {
  /// Why an item cannot be taken.
  struct Refusal: Error {
    var reason: ImportReport.Reason
    var detail: String
  }

  /// The transactions of the item, oldest first. At least one.
  func transactions() throws(Refusal) -> [StoreTransaction] {
    guard case .document(let bytes, let id) = content else {
      if case .transaction(let transaction) = content { return [transaction] }
      return []
    }
    let found: [StoreTransaction]
    do throws(ReceiptDecodingError) {
      found = try Self.decoded(bytes, only: id)
    } catch {
      throw Refusal(reason: .unreadable, detail: error.description)
    }
    guard !found.isEmpty else {
      throw Refusal(
        reason: .transactionMissing,
        detail: id.map { "the document does not hold transaction \($0)" }
          ?? "the document holds no transaction")
    }
    guard orderNumber == nil || found.count == 1 else {
      throw Refusal(
        reason: .orderAmbiguous, detail: "an order and \(found.count) transactions: name the transaction")
    }
    return OrderMatcher.sorted(found)
  }

  /// The transactions of a document; only the one of that id, if there is an id.
  private static func decoded(
    _ bytes: [UInt8], only id: String?
  ) throws(ReceiptDecodingError) -> [StoreTransaction] {
    let found = try DocumentShape.unwrap(bytes) { (shape, bytes) throws(ReceiptDecodingError) in
      try transactions(shape, bytes, only: id)
    }
    return found.content.filter { id == nil || $0.transactionID == id }
  }

  /// Nil if the shape is a layer around a document.
  private static func transactions(
    _ shape: DocumentShape, _ bytes: [UInt8], only id: String?
  ) throws(ReceiptDecodingError) -> [StoreTransaction]? {
    switch shape {
    case .asn1:
      let receipt = try AppReceipt(decoding: bytes)
      var found: [StoreTransaction] = []
      // Those without an id that is asked for need not be readable.
      for purchase in receipt.inApp where id == nil || purchase.transactionID == id {
        found.append(try StoreTransaction(purchase, in: receipt, bytes: bytes))
      }
      return found
    case .propertyList: return [try StoreTransaction(TransactionReceipt(decoding: bytes), bytes: bytes)]
    case .jws: return [try StoreTransaction(jws: String(decoding: bytes, as: UTF8.self))]
    case .jsonObject:
      throw ReceiptDecodingError(
        expected: "a receipt or a signed transaction", found: "a JSON object", location: "start")
    case .jsonString, .base64: return nil
    }
  }
}
