public import AppStoreReceipts

/// Any document of the App Store, of its server or of an app, recognised by its contents. Use it for bytes of
/// unknown kind. **Decoded, not verified**: the contents must be proven elsewhere, see `CompactJWS` and
/// `AppReceipt`.
///
/// It reads a binary receipt (DER, BER), a property list, a JWS and JSON. Each may be wrapped: in base64 with
/// or without line breaks, in base64 of base64, in base64url, or in a JSON string (StoreFacts pitfall 16). A JWS
/// may have line breaks.
///
/// It is **lenient**, to show as much as possible of JSON: an unreadable item or field is named in
/// ``undecodable``, and the rest is read. To decide about purchases use the decoder of one kind, such as
/// ``VerifyReceiptResponse`` or `SignedTransaction`: it throws instead. App receipts and transaction receipts
/// are always read strictly.
///
/// Limits: ``maximumByteCount`` bytes, ``maximumWrappings`` wrappings, and the limits of each decoder; no
/// recursion that the input controls; time in proportion to the bytes.
public struct StoreDocument: Sendable, Hashable {
  /// The largest input that is accepted: 64 MiB, which is a receipt of 16 MiB in base64 of base64, with line
  /// breaks.
  public static let maximumByteCount = DocumentShape.maximumByteCount
  /// The most layers of base64 or JSON strings around a document.
  public static let maximumWrappings = DocumentShape.maximumWrappings
  /// The most errors in ``undecodable``. Further errors are not listed.
  public static let maximumUndecodable = 100

  /// The kind of a document. The names are the words of `purchase-simulator decode --json`.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The app receipt (PKCS#7).
    case appReceipt
    /// The receipt of one transaction, iOS 6 style.
    case transactionReceipt
    /// A request to `verifyReceipt`.
    case verifyReceiptRequest
    /// An answer of `verifyReceipt`.
    case verifyReceiptResponse
    /// A signed transaction (JWS).
    case signedTransaction
    /// A signed renewal info (JWS).
    case signedRenewalInfo
    /// A signed app transaction (JWS).
    case signedAppTransaction
    /// A notification of version 1.
    case notificationV1
    /// A notification of version 2: its JWS, or the body `{"signedPayload": …}`.
    case notificationV2
    /// The payload of a signed transaction, taken out of its JWS.
    case transactionPayload
    /// The payload of a signed renewal info, taken out of its JWS.
    case renewalInfoPayload
    /// The payload of a signed app transaction, taken out of its JWS.
    case appTransactionPayload
    /// The payload of a notification of version 2, taken out of its JWS.
    case notificationV2Payload
    /// An answer of the App Store Server API, or an item of one.
    case serverAPIResponse
    /// An item of `in_app`, `latest_receipt_info` or `pending_renewal_info`.
    case transactionObject
    /// The `receipt` of an answer of `verifyReceipt`.
    case receiptObject
    /// A request of the retention messaging interface: its JWS, or its payload.
    case retentionRequest

    /// Whether an upload can carry it as a proof that the backend verifies with the store.
    public var isProof: Bool {
      self == .appReceipt || self == .transactionReceipt || self == .signedTransaction
    }
  }

  /// The decoded document.
  public enum Content: Sendable, Hashable {
    /// ``Kind/appReceipt``
    case appReceipt(AppReceipt)
    /// ``Kind/transactionReceipt``
    case transactionReceipt(TransactionReceipt)
    /// ``Kind/verifyReceiptRequest``
    case verifyReceiptRequest(VerifyReceiptRequest)
    /// ``Kind/verifyReceiptResponse``
    case verifyReceiptResponse(VerifyReceiptResponse)
    /// ``Kind/signedTransaction`` and ``Kind/transactionPayload``
    case transaction(SignedTransaction)
    /// ``Kind/signedRenewalInfo`` and ``Kind/renewalInfoPayload``
    case renewalInfo(SignedRenewalInfo)
    /// ``Kind/signedAppTransaction`` and ``Kind/appTransactionPayload``
    case appTransaction(SignedAppTransaction)
    /// ``Kind/notificationV1``
    case notificationV1(ServerNotificationV1)
    /// ``Kind/notificationV2`` and ``Kind/notificationV2Payload``
    case notificationV2(ServerNotificationV2)
    /// ``Kind/serverAPIResponse``
    case serverAPIResponse(ServerAPIResponse)
    /// ``Kind/transactionObject`` with a transaction
    case transactionObject(ReceiptTransaction)
    /// ``Kind/transactionObject`` with a renewal
    case renewalObject(PendingRenewal)
    /// ``Kind/receiptObject``
    case receiptObject(VerifiedAppReceipt)
    /// ``Kind/retentionRequest``
    case retentionRequest(RetentionRequest)
    /// A transaction of any kind, in which a required field is absent or a field is unreadable
    case incompleteTransaction(IncompleteTransaction)
  }

  /// The kind of the document.
  public let kind: Kind
  /// The decoded document.
  public let content: Content
  /// The layers around the document, from the outside to the inside; empty if there was none.
  public let wrappings: [DocumentWrapping]
  /// The bytes inside of all wrappings: the binary receipt, the JWS, the JSON. An upload carries these bytes.
  public let bytes: [UInt8]
  /// All transactions in the document, in its order, including those in documents inside of it (a receipt in
  /// a request, the JWS of a notification). One id may occur several times: `verifyReceipt` answers list a
  /// transaction in two places.
  public let transactions: [ListedTransaction]
  /// The facts about subscriptions in the document; see ``SubscriptionStatus/all(in:at:)``.
  public let subscriptionFacts: SubscriptionFacts
  /// Errors of parts that could not be decoded, although the document itself could: an item of a list, a
  /// field, a JWS in a notification, the receipt in a request. Each error names its place. What such a part
  /// says is in no other property: before you conclude that a purchase is **not** in the document, or is not
  /// refunded, check that this list is empty.
  public let undecodable: [ReceiptDecodingError]
  /// Members of JSON objects that no decoder reads, and known ones in a wrong place.
  public let unknownMembers: [UnknownMember]
  /// The bundle ids of the documents inside of it.
  let innerBundleIDs: Set<String>

  init(
    _ kind: Kind, _ content: Content, wrappings: [DocumentWrapping], bytes: [UInt8], inside: DocumentContents,
    unknownMembers: [UnknownMember]
  ) {
    self.unknownMembers = unknownMembers
    self.kind = kind
    self.content = content
    self.wrappings = wrappings
    self.bytes = bytes
    transactions = inside.transactions
    subscriptionFacts = inside.facts
    undecodable = inside.undecodable
    innerBundleIDs = inside.bundleIDs
  }

  /// Whether the document contains this transaction. If ids restart (Xcode), an id alone does not identify a
  /// transaction.
  public func covers(_ transactionID: String, in environment: StoreEnvironment? = nil) -> Bool {
    transactions.contains {
      $0.transactionID == transactionID
        && (environment == nil || $0.environment == nil || $0.environment == environment)
    }
  }

  /// The ids that the document contains, in their given order.
  public func covered(of transactionIDs: some Sequence<String>) -> [String] {
    let held = Set(transactions.map(\.transactionID))
    return transactionIDs.filter(held.contains)
  }
}

extension StoreDocument: CustomStringConvertible, CustomReflectable {
  /// The kind and a count, without the proof.
  public var description: String { "\(kind.rawValue), \(transactions.count) transactions" }
  /// A mirror without children, because the document contains a proof.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
