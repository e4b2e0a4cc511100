/// Whatever the App Store, its server or an app hands out, told by its contents: the one entry for bytes of which
/// nobody says what they are. **Decoded, not verified**: what a document says must be proven elsewhere, see
/// ``CompactJWS`` and ``AppReceipt``.
///
/// Read are a binary receipt (DER, BER), a property list, a JWS and JSON, and each of these as base64, with line
/// breaks or without, as base64 of base64, in base64url, or in a JSON string (receipt-facts, pitfall 16). Bounded:
/// ``maximumByteCount`` bytes, ``maximumWrappings`` wrappings, and the limits of each decoder; no recursion that the
/// input controls; time in proportion to the bytes.
public struct StoreDocument: Sendable, Hashable {
  /// Larger inputs are refused: 64 MiB, which is a receipt of 16 MiB in base64 of base64, with line breaks.
  public static let maximumByteCount = 64 << 20
  /// How often a document may be wrapped in base64 or in a JSON string.
  public static let maximumWrappings = 4
  /// How many errors ``undecodable`` holds at most; further ones are not listed.
  public static let maximumUndecodable = 100

  /// What it is, by name: the words of `purchase-simulator decode --json`.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The app receipt (PKCS#7).
    case appReceipt
    /// The receipt of one transaction, iOS 6 style.
    case transactionReceipt
    /// A question to `verifyReceipt`.
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

    /// Whether an upload can carry it as its proof, and a backend verify it with the store.
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
  }

  /// What it is.
  public let kind: Kind
  /// What it says.
  public let content: Content
  /// What it was wrapped in, from the outside to the inside; empty if it came as it is.
  public let wrappings: [Wrapping]
  /// The bytes inside of all wrappings: the receipt's binary, the JWS, the JSON. What an upload carries.
  public let bytes: [UInt8]
  /// Every transaction in it, also in documents inside of it (a receipt in a request, the JWS of a notification), in
  /// its own order. One id may occur several times: `verifyReceipt` answers list a transaction in two places.
  public let transactions: [ListedTransaction]
  /// What it tells of subscriptions; see ``SubscriptionStatus/all(in:at:)``.
  public let subscriptionFacts: SubscriptionFacts
  /// What could not be decoded inside of it, although the document itself was: a JWS within a notification, the
  /// receipt within a request. Each names its place.
  public let undecodable: [ReceiptDecodingError]
  /// The bundle ids of the documents inside of it.
  let innerBundleIDs: Set<String>

  /// A layer around a document.
  public enum Wrapping: String, Sendable, Hashable {
    /// Base64, with or without line breaks and padding.
    case base64
    /// Base64 with `-` and `_`.
    case base64URL
    /// A string of JSON.
    case jsonString
  }

  init(
    _ kind: Kind, _ content: Content, wrappings: [Wrapping], bytes: [UInt8], inside: DocumentContents
  ) {
    self.kind = kind
    self.content = content
    self.wrappings = wrappings
    self.bytes = bytes
    transactions = inside.transactions
    subscriptionFacts = inside.facts
    undecodable = inside.undecodable
    innerBundleIDs = inside.bundleIDs
  }

  /// Whether it holds this transaction. Of stores whose ids restart (Xcode) an id alone says little.
  public func covers(_ transactionID: String, in environment: StoreEnvironment? = nil) -> Bool {
    transactions.contains {
      $0.transactionID == transactionID
        && (environment == nil || $0.environment == nil || $0.environment == environment)
    }
  }

  /// Those of the ids, in their order, that it holds.
  public func covered(of transactionIDs: some Sequence<String>) -> [String] {
    let held = Set(transactions.map(\.transactionID))
    return transactionIDs.filter(held.contains)
  }
}

extension StoreDocument: CustomStringConvertible, CustomReflectable {
  /// The kind and a count; no proof.
  public var description: String { "\(kind.rawValue), \(transactions.count) transactions" }
  /// Without children: it holds a proof.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
