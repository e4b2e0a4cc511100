import AppStoreDocuments
import AppStoreReceipts
import LoopbackHTTP
import PurchaseQueue

/// `GET /store/transactions/ID/notification`: a notification of any type that tells of a transaction, whether or not its
/// event took place. Tests post what their store does not send when they need it.
extension MockState {
  private typealias Kind = ServerNotificationV2.Kind
  private typealias Subtype = ServerNotificationV2.Subtype

  /// The types with their subtypes; nil is none. The others tell of no transaction (StoreFacts d.2).
  private static let toldKinds: [Kind: [Subtype?]] = [
    .subscribed: [.initialBuy, .resubscribe], .didRenew: [nil, .billingRecovery],
    .didFailToRenew: [nil, .gracePeriod], .gracePeriodExpired: [nil],
    .expired: [nil, .voluntary, .billingRetry, .priceIncrease, .productNotForSale],
    .didChangeRenewalStatus: [nil, .autoRenewEnabled, .autoRenewDisabled],
    .didChangeRenewalPreference: [nil, .upgrade, .downgrade, .increaseQuantity, .decreaseQuantity],
    .offerRedeemed: [nil, .upgrade, .downgrade], .priceIncrease: [.pending, .accepted],
    .priceChange: [nil], .metadataUpdate: [nil], .migration: [nil], .refund: [nil, .seats],
    .refundDeclined: [nil], .refundReversed: [nil], .revoke: [nil], .consumptionRequest: [nil],
    .oneTimeCharge: [nil], .renewalExtended: [nil], .renewalExtension: [.failure],
  ]

  /// The notification tells the transaction as it is now. Its id follows from the type, the transaction and the time of
  /// its refund: a repetition is one, and a second refund is not. With `bare=TYPE` it tells of none, and has any type, such
  /// as `TEST`.
  static func signedNotification(_ mock: inout MockState, _ call: Route.Call) throws -> NotificationBody {
    let (record, forge) = try mock.proof(
      call, allowing: ["broken", "bundleID", "type", "subtype", "bare"])
    if let type = call.request.query["bare"] {
      let body = NotificationForge(receipts: forge, environment: record.environment).version2(
        Kind(rawValue: type), id: mock.store.uuid(of: "bare notification \(type) \(record.transactionID)"),
        about: nil, signedAt: call.now)
      return NotificationBody(signedPayload: body["signedPayload"]?.string ?? "")
    }
    let (kind, subtype) = try told(call.request, of: record)
    let words = [kind.rawValue, subtype?.rawValue ?? "", record.transactionID]
    let name = words.joined(separator: " ") + " \(record.revokedAt?.milliseconds ?? 0)"
    let body = NotificationForge(receipts: forge, environment: record.environment).version2(
      kind, subtype, id: mock.store.uuid(of: "asked notification \(name)"), about: record,
      renewal: mock.store.renewal(of: record.originalTransactionID), state: mock.store.toldState(of: record),
      signedAt: call.now)
    return NotificationBody(signedPayload: body["signedPayload"]?.string ?? "")
  }

  /// The type and subtype that a query asks for; those of the purchase if it names no type.
  private static func told(
    _ request: HTTPRequest, of record: StoreTransactionRecord
  ) throws -> (Kind, Subtype?) {
    let subtype = request.query["subtype"].map(Subtype.init(rawValue:))
    guard let type = request.query["type"] else {
      guard subtype == nil else { throw HTTPProblem.invalid("subtype: there is none without a type") }
      return record.kind == .autoRenewable ? (.subscribed, .initialBuy) : (.oneTimeCharge, nil)
    }
    guard let subtypes = toldKinds[Kind(rawValue: type)] else {
      let names = toldKinds.keys.map(\.rawValue).sorted().joined(separator: ", ")
      throw HTTPProblem.invalid("type: none that tells of a transaction; these do: \(names)")
    }
    guard subtypes.contains(subtype) else {
      let names = subtypes.map { $0?.rawValue ?? "none" }.joined(separator: ", ")
      throw HTTPProblem.invalid("subtype: none of \(type), which has: \(names)")
    }
    return (Kind(rawValue: type), subtype)
  }
}
