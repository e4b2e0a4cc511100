import AppStoreReceipts
import Foundation
import PurchaseQueue

/// The query of *Get Transaction History*: what is listed, and in which order. "If you provide multiple filters in the
/// query, the transactions that return match all the filters", and any of several values of one filter.
struct HistoryQuery: Hashable {
  var revision: String?
  var startDate: Int64?
  var endDate: Int64?
  var productIDs: Set<String> = []
  var kinds: Set<StoreProduct.Kind> = []
  var groups: Set<String> = []
  var ownership: OwnershipType?
  var isRevoked: Bool?
  var isDescending = false

  /// The words of the query for the kinds of products.
  private static let kindWords: [String: StoreProduct.Kind] = [
    "AUTO_RENEWABLE": .autoRenewable, "NON_RENEWABLE": .nonRenewing, "CONSUMABLE": .consumable,
    "NON_CONSUMABLE": .nonConsumable,
  ]

  /// Unknown names are left alone, as the store does.
  init(_ items: ServerAPIQuery = ServerAPIQuery()) throws(ServerAPIError) {
    revision = items.values("revision").last
    startDate = try Self.moment(items.values("startDate").last, orThrow: .invalidStartDate)
    endDate = try Self.moment(items.values("endDate").last, orThrow: .invalidEndDate)
    if let startDate, let endDate, startDate >= endDate { throw .startAfterEnd }
    productIDs = try Self.texts(items.values("productId"), orThrow: .invalidProductID)
    groups = try Self.texts(items.values("subscriptionGroupIdentifier"), orThrow: .invalidGroup)
    for word in items.values("productType") {
      guard let kind = Self.kindWords[word] else { throw .invalidProductType }
      kinds.insert(kind)
    }
    switch items.values("sort").last {
    case "ASCENDING", nil: isDescending = false
    case "DESCENDING": isDescending = true
    default: throw .invalidSort
    }
    if let word = items.values("inAppOwnershipType").last {
      let type = OwnershipType(rawValue: word)
      guard type == .purchased || type == .familyShared || type == .assigned else { throw .invalidOwnership }
      ownership = type
    }
    if let word = items.values("excludeRevoked").last {
      guard let excludes = Self.flag(word) else { throw .invalidExcludeRevoked }
      if excludes { isRevoked = false }
    }
    if let word = items.values("revoked").last {
      guard let flag = Self.flag(word) else { throw .invalidRevoked }
      isRevoked = flag
    }
  }

  /// Tells this query's filters and order from others'; nil for a query without any. A revision is a place in one list:
  /// in another one it would skip transactions. A later end adds to the same list, so that the end is no part of it.
  var fingerprint: String? {
    var plain = self
    (plain.revision, plain.endDate) = (nil, nil)
    guard plain != HistoryQuery.all else { return nil }
    let parts: [String] = [
      startDate.map { String($0) } ?? "", productIDs.sorted().joined(separator: ","),
      kinds.map(\.rawValue).sorted().joined(separator: ","), groups.sorted().joined(separator: ","),
      ownership?.rawValue ?? "", isRevoked.map { String($0) } ?? "", String(isDescending),
    ]
    return HistoryPlace.fingerprint(of: parts)
  }

  private static let all = HistoryQuery()

  private init() {}

  /// Whether the history has this transaction.
  func matches(_ record: StoreTransactionRecord) -> Bool {
    let date = record.purchasedAt.milliseconds
    return startDate.map { date >= $0 } ?? true && endDate.map { date < $0 } ?? true
      && (productIDs.isEmpty || productIDs.contains(record.productID))
      && (kinds.isEmpty || kinds.contains(record.kind))
      && (groups.isEmpty || record.groupID.map(groups.contains) ?? false)
      && ownership.map { $0 == record.ownership } ?? true
      && isRevoked.map { $0 == (record.revokedAt != nil) } ?? true
  }

  private static func moment(
    _ text: String?, orThrow error: ServerAPIError
  ) throws(ServerAPIError) -> Int64? {
    guard let text else { return nil }
    guard let moment = Int64(text), moment >= 0 else { throw error }
    return moment
  }

  private static func texts(
    _ values: [String], orThrow error: ServerAPIError
  ) throws(ServerAPIError) -> Set<String> {
    guard !values.contains("") else { throw error }
    return Set(values)
  }

  /// Python's `str(True)` is `True`, and Apple's library for Python sends that.
  private static func flag(_ word: String) -> Bool? {
    switch word.lowercased() {
    case "true": true
    case "false": false
    default: nil
    }
  }
}

/// The query of a request with repeated names, which `HTTPRequest.query` has not.
struct ServerAPIQuery: Hashable {
  private var pairs: [Pair] = []

  private struct Pair: Hashable {
    var name: String
    var value: String
  }

  init() {}

  /// From path and query as they were sent. A form's `+` is a space.
  init(target: String) {
    guard let mark = target.firstIndex(of: "?") else { return }
    pairs = target[target.index(after: mark)...].split(separator: "&").map { item in
      let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return Pair(name: Self.decoded(parts[0]), value: parts.count > 1 ? Self.decoded(parts[1]) : "")
    }
  }

  /// From names and values that are decoded.
  init(_ items: KeyValuePairs<String, String>) {
    pairs = items.map { Pair(name: $0.key, value: $0.value) }
  }

  /// In the order of the query.
  func values(_ name: String) -> [String] { pairs.filter { $0.name == name }.map(\.value) }

  /// The server refuses a broken percent-encoding before any route.
  private static func decoded(_ text: Substring) -> String {
    let text = String(text).replacing("+", with: " ")
    return text.removingPercentEncoding ?? text
  }
}
