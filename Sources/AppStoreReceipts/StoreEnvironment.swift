/// The store environment of a transaction. An open set: an unknown name is kept as it is.
public struct StoreEnvironment: RawRepresentable, Hashable, Sendable, Codable {
  /// The name, as in the store's signed transactions.
  public var rawValue: String

  /// Any name, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Real purchases, which are charged.
  public static let production = StoreEnvironment(rawValue: "Production")
  /// Test accounts and Apple's review.
  public static let sandbox = StoreEnvironment(rawValue: "Sandbox")
  /// StoreKit testing in Xcode: ids restart at "0".
  public static let xcode = StoreEnvironment(rawValue: "Xcode")
  /// StoreKit testing from the command line: ids restart at "0".
  public static let localTesting = StoreEnvironment(rawValue: "LocalTesting")

  /// Whether transaction ids restart with each run, so that an id alone does not identify a transaction.
  public var reusesTransactionIDs: Bool { self == .xcode || self == .localTesting }
}
