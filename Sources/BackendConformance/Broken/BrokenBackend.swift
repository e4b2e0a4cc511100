public import PurchaseSyncTesting

/// A backend that is wrong on purpose, in one way: `conformance` has to find it.
///
/// `serve --broken NAME` serves one. Each is a set of hooks around the routes of the mock backend, which themselves
/// know no bug.
public struct BrokenBackend: RawRepresentable, CaseIterable, Sendable, Hashable {
  /// The name, such as `double-grant`.
  public let rawValue: String
  /// One line for a help text: what this backend does wrong.
  public let summary: String
  /// What `MockServer` takes to be this backend.
  public let hooks: BrokenHooks

  init(_ name: String, _ summary: String, hooks: BrokenHooks) {
    (rawValue, self.summary, self.hooks) = (name, summary, hooks)
  }

  /// The backend of that name; nil if there is none.
  public init?(rawValue: String) {
    guard let found = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
    self = found
  }

  /// All of them, by what they do wrong.
  public static let allCases: [BrokenBackend] = lists.flatMap(\.self)

  /// Apart from `allCases`, with its type: the compiler infers the type of a long expression slowly.
  private static let lists: [[BrokenBackend]] = [
    orders, orderKeys, orderLists, orderStates, registrations, strangers, replies, claims, ids,
    statuses, chains, defects, owners, claimedOrders, chainOwners, devices, adoptions, refunds,
    refundedParts, notifications, notices, consent, subscriptions, periods, graces, bundles, seats,
    restarts, forms, answers, texts, badClaims, races, candidates, ownerRows, statements, mistakes,
    payments,
  ]

  /// Whether both are the same bug.
  public static func == (left: BrokenBackend, right: BrokenBackend) -> Bool {
    left.rawValue == right.rawValue
  }

  /// Hashes the name.
  public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
}
