#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A server notification, version 2: the payload of its `signedPayload` (receipt-facts.md d.2).
///
/// **Decoded, not verified.** Before a backend acts on one, it verifies the signature of `signedPayload` and
/// of each JWS inside it, and that environment and bundle id are its own; see ``CompactJWS``. Dates are
/// milliseconds since 1970.
public struct ServerNotificationV2: Sendable, Hashable {
  /// `notificationType`
  public var kind: Kind
  /// `subtype`; nil where it is absent or empty.
  public var subtype: Subtype?
  /// `notificationUUID`: the same for each repetition, so that it is acted on once.
  public var id: String?
  /// `version`: "2.0".
  public var version: String?
  /// `signedDate`
  public var signedDate: Int64?
  /// `data`: about one transaction; of most kinds.
  public var details: Details?
  /// `summary`: of `RENEWAL_EXTENSION` with `SUMMARY`.
  public var summary: Summary?
  /// `externalPurchaseToken`: of `EXTERNAL_PURCHASE_TOKEN`.
  public var externalPurchaseToken: ExternalPurchaseToken?
  /// `appData`: of `RESCIND_CONSENT`.
  public var appData: AppData?
  /// What this module doesn't know.
  public var unknownFields: [String: JSONValue]

  /// Reads the body of the POST, `{"signedPayload": "…"}`. Throws if it is anything else; then as
  /// ``init(jws:)`` does.
  public init(json: Data) throws(ReceiptDecodingError) {
    try self.init(body: JSONFields(json: json))
  }

  /// The fields of the body. It is let go before the payload is read, which is as large.
  init(body: consuming JSONFields) throws(ReceiptDecodingError) {
    let payload = try CompactJWS.payload(
      of: body.required(body.string("signedPayload"), "signedPayload").utf8)
    try self.init(JSONFields(json: payload, path: "payload"))
  }

  /// Decodes the signed payload. Throws if it is no JWS, no JSON object, has no `notificationType`, or a
  /// known field has a value that it can't have. The JWS inside are not looked at: ask
  /// ``Details/transaction()`` and its neighbours.
  public init(jws: String) throws(ReceiptDecodingError) {
    try self.init(CompactJWS.payloadFields(of: jws.utf8))
  }

  /// Decodes a payload that was taken out of its JWS; throws as ``init(jws:)`` does.
  public init(payload: Data) throws(ReceiptDecodingError) {
    try self.init(CompactJWS.fields(ofPayload: payload))
  }

  init(_ input: JSONFields) throws(ReceiptDecodingError) {
    var fields = input
    kind = try fields.required(fields.word("notificationType", as: Kind.self), "notificationType")
    subtype = try fields.word("subtype", as: Subtype.self)
    id = try fields.string("notificationUUID")
    version = try fields.text("version")
    signedDate = try fields.milliseconds("signedDate")
    details = try fields.object("data").map(Details.init)
    summary = try fields.object("summary").map(Summary.init)
    externalPurchaseToken = try fields.object("externalPurchaseToken").map(ExternalPurchaseToken.init)
    appData = try fields.object("appData").map(AppData.init)
    unknownFields = try fields.unknown()
  }

  /// The app's bundle id, from whichever part the notification has. Compare it with your own.
  public var bundleID: String? {
    details?.bundleID ?? summary?.bundleID ?? externalPurchaseToken?.bundleID ?? appData?.bundleID
  }

  /// The environment, from whichever part the notification has.
  public var environment: StoreEnvironment? {
    details?.environment ?? summary?.environment ?? externalPurchaseToken?.environment
      ?? appData?.environment
  }
}

extension ServerNotificationV2: CustomStringConvertible, CustomReflectable {
  /// The kind and the id, and nothing of what is signed.
  public var description: String {
    let name = kind.rawValue + (subtype.map { "/" + $0.rawValue } ?? "")
    return "notification \(name), version 2, id \(id ?? "none")"
  }
  /// Without children.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
