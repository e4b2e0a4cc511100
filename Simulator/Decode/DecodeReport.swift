import AppStoreDocuments
import AppStoreReceipts
import PurchaseQueue

/// The output of `decode --json`: one document with stable keys; absent values are null.
struct DecodeReport {
  let json: JSONValue

  init(_ document: StoreDocument, subscriptions: [SubscriptionStatus]) {
    json = [
      "kind": .string(document.kind.rawValue),
      "environment": Self.text(document.environment?.rawValue),
      "bundleID": Self.text(document.bundleID),
      "wrappings": .array(document.wrappings.map { .string($0.rawValue) }),
      "transactions": .array(document.transactions.map(Self.transaction)),
      "subscriptions": .array(subscriptions.map(Self.subscription)),
      "undecodable": .array(document.undecodable.map { .string($0.description) }),
      "unknownMembers": .array(document.unknownMembers.map(Self.unknown)),
      "details": .object(
        Dictionary(
          uniqueKeysWithValues: DecodeDetails(document).rows.map { ($0.name, .string($0.value)) })),
    ]
  }

  /// For a file that cannot be decoded.
  init(_ error: ReceiptDecodingError) {
    json = [
      "kind": .null,
      "error": [
        "expected": .string(error.expected), "found": Self.text(error.found),
        "location": .string(error.location),
        "offset": error.offset.map { .integer(Int64($0)) } ?? .null, "reason": .string(error.reason.rawValue),
      ],
    ]
  }

  private static func unknown(_ member: StoreDocument.UnknownMember) -> JSONValue {
    ["path": .string(member.path), "home": text(member.home)]
  }

  private static func transaction(_ transaction: ListedTransaction) -> JSONValue {
    [
      "transactionID": .string(transaction.transactionID),
      "originalTransactionID": .string(transaction.originalTransactionID),
      "productID": text(transaction.productID),
      "quantity": .integer(Int64(transaction.quantity)),
      "purchaseDate": text(utc(transaction.purchaseDate)),
      "expiresDate": text(utc(transaction.expiresDate)),
      "cancellationDate": text(utc(transaction.cancellationDate)),
      "revocationType": text(transaction.revocationType?.rawValue),
      "revocationPercentage": transaction.revocationPercentage.map { .integer($0) } ?? .null,
    ]
  }

  private static func subscription(_ status: SubscriptionStatus) -> JSONValue {
    [
      "originalTransactionID": .string(status.originalTransactionID),
      "transactionID": .string(status.transactionID),
      "productID": .string(status.productID),
      "nextProductID": text(status.nextProductID),
      "state": .string(word(status.state)),
      "isEntitled": .bool(status.isEntitled),
      "entitledUntil": text(utc(status.entitledUntil)),
      "endedAt": text(utc(status.endedAt)),
      "willAutoRenew": flag(status.willAutoRenew),
      "isTrial": flag(status.isTrial),
      "isInIntroductoryOffer": flag(status.isInIntroductoryOffer),
      "expirationIntent": status.expirationIntent.map { .integer(Int64($0.rawValue)) } ?? .null,
      "revokedTransactionIDs": .array(status.revokedTransactionIDs.map { .string($0) }),
    ]
  }

  static func word(_ state: SubscriptionStatus.State) -> String {
    switch state {
    case .active: "active"
    case .gracePeriod: "gracePeriod"
    case .billingRetry: "billingRetry"
    case .lapsed: "lapsed"
    case .refunded: "refunded"
    case .revoked: "revoked"
    case .upgraded: "upgraded"
    }
  }

  /// Thousandths of a percent as a percentage: "33.333 %".
  static func percentage(_ share: Int64) -> String {
    let rest = String(String(share % 1_000 + 1_000).dropFirst())
    return "\(share / 1_000)" + (share % 1_000 == 0 ? "" : "." + rest) + " %"
  }

  /// ISO 8601 in UTC; milliseconds only where there are some.
  static func utc(_ milliseconds: Int64?) -> String? {
    guard let milliseconds else { return nil }
    let whole = Timestamp(milliseconds: milliseconds).utc
    let rest = ((milliseconds % 1_000) + 1_000) % 1_000
    guard rest != 0, whole.hasSuffix("Z") else { return whole }
    let digits = String(rest)
    return whole.dropLast() + "." + String(repeating: "0", count: 3 - digits.count) + digits + "Z"
  }

  private static func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }
  private static func flag(_ flag: Bool?) -> JSONValue { flag.map { .bool($0) } ?? .null }
}
