public import AppStoreReceipts

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A server notification, version 2: the payload of its `signedPayload` (StoreFacts d.2).
///
/// **Decoded, not verified.** Before it acts on a notification, a backend verifies the signature of
/// `signedPayload` and of each JWS inside, and compares environment and bundle id with its own; see
/// `CompactJWS`. Dates are milliseconds since 1970.
public struct ServerNotificationV2: Sendable, Hashable {
  /// `notificationType`
  public var kind: Kind
  /// `subtype`; nil if it is absent or empty.
  public var subtype: Subtype?
  /// `notificationUUID`: the same in each repetition. Act on each id once.
  public var id: String?
  /// `version`: "2.0".
  public var version: String?
  /// `signedDate`
  public var signedDate: Int64?
  /// `data`: the details of one transaction. Most kinds have it.
  public var details: Details?
  /// `summary`. Only `RENEWAL_EXTENSION` with `SUMMARY` has it.
  public var summary: Summary?
  /// `externalPurchaseToken`. Only `EXTERNAL_PURCHASE_TOKEN` has it.
  public var externalPurchaseToken: ExternalPurchaseToken?
  /// `appData`. Only `RESCIND_CONSENT` has it.
  public var appData: AppData?
  /// `unclaimInfo`. Only `UNCLAIM_SEATS` has it.
  public var unclaimInfo: UnclaimInfo?
  /// Fields that this module does not know.
  public var unknownFields: [String: JSONValue]

  /// Reads the body of the POST, `{"signedPayload": "…"}`. Throws for any other body, and like
  /// ``init(jws:)``.
  public init(json: Data) throws(ReceiptDecodingError) {
    try self.init(body: JSONFields(json: json))
  }

  /// Takes the fields of the body. They are released before the payload, which is as large, is read.
  init(body: consuming JSONFields) throws(ReceiptDecodingError) {
    let findings = body.findings
    let member = "signedPayload"
    let payload = try CompactJWS.payload(
      of: body.required(body.string(member), member).utf8, in: findings == nil ? nil : member)
    try body.nameUnknown()
    try self.init(JSONFields(json: payload, path: "payload", findings: findings))
  }

  /// Decodes the signed payload. Throws if it is no JWS or no JSON object, has no `notificationType`, or a
  /// known field has an invalid value. The JWS inside are not decoded: call ``Details/transaction()`` and its
  /// neighbours.
  public init(jws: String) throws(ReceiptDecodingError) {
    try self.init(CompactJWS.payloadFields(of: jws.utf8))
  }

  /// Decodes a payload that was taken out of its JWS. Throws like ``init(jws:)``.
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
    details = try fields.object("data", Details.init)
    summary = try fields.object("summary", Summary.init)
    externalPurchaseToken = try fields.object("externalPurchaseToken", ExternalPurchaseToken.init)
    appData = try fields.object("appData", AppData.init)
    unclaimInfo = try fields.object("unclaimInfo", UnclaimInfo.init)
    unknownFields = try fields.unknown()
  }

  /// The app's bundle id, from the part that the notification has. Compare it with your own.
  public var bundleID: String? {
    details?.bundleID ?? summary?.bundleID ?? externalPurchaseToken?.bundleID ?? appData?.bundleID
      ?? unclaimInfo?.bundleID
  }

  /// The environment, from the part that the notification has.
  public var environment: StoreEnvironment? {
    details?.environment ?? summary?.environment ?? externalPurchaseToken?.environment
      ?? appData?.environment ?? unclaimInfo?.environment
  }
}

extension ServerNotificationV2: CustomStringConvertible, CustomReflectable {
  /// The kind and the id, without signed content.
  public var description: String {
    let name = kind.rawValue + (subtype.map { "/" + $0.rawValue } ?? "")
    return "notification \(name), version 2, id \(id ?? "none")"
  }
  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
