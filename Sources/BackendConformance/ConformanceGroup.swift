import PurchaseSyncTesting

/// What a group of checks is about. The order is that of a run.
package enum ConformanceGroup: String, Sendable, CaseIterable, Codable {
  case orders, uploads, ownership, refunds, subscriptions, notifications, statuses, forms, restart,
    concurrency,
    security

  /// One line for a help text.
  package var summary: String {
    switch self {
    case .orders: "making, reading, registering and ending orders"
    case .uploads: "verdicts, and that each transaction is credited once"
    case .ownership: "which account gets a purchase, and what others are told"
    case .refunds: "refunds that an upload or a notification tells of"
    case .subscriptions: "periods, renewals, upgrades and ends"
    case .notifications: "the store's notifications: which count, and how often"
    case .statuses: "what the answers of verifyReceipt mean"
    case .forms: "the form of requests and answers: types, texts, words of a later version"
    case .restart: "what a restart of the backend must not change"
    case .concurrency: "requests at the same time"
    case .security: "credentials, forged proofs, malformed and large requests"
    }
  }
}

/// Something that a check needs apart from the backend.
package enum ConformanceNeed: String, Sendable, CaseIterable, Codable {
  /// The id of a product that the backend sells.
  case product
  /// A mock store that the backend asks.
  case store
  /// The names of the two accounts.
  case accounts
  /// A command that restarts the backend.
  case restart

  /// How a person provides it.
  package var advice: String {
    switch self {
    case .product: "name a product that the backend sells with --product, or give a store with --store"
    case .store:
      "start 'purchase-simulator serve', let the backend ask it in place of Apple, and give its URL with --store"
    case .accounts: "name the accounts of --token and --other-token with --account and --other-account"
    case .restart: "give a command that kills and starts the backend with --restart"
    }
  }
}

/// Where a rule stands.
package enum ConformanceSource: Sendable, Hashable, CustomStringConvertible {
  /// An answer of an operation in the OpenAPI document.
  case openAPI(String, String, Int)
  /// A section of the page *Your backend*.
  case yourBackend(String)

  package var description: String {
    switch self {
    case .openAPI(let method, let path, let status): "openapi.json, \(method) \(path), \(status)"
    case .yourBackend(let section): "the page Your backend, '\(section)'"
    }
  }
}
