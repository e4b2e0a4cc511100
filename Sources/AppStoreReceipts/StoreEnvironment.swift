/// Which store a transaction is from. An open set: an unknown name is kept as it came.
public struct StoreEnvironment: RawRepresentable, Hashable, Sendable, Codable {
  /// The name as the store writes it in signed transactions.
  public var rawValue: String

  /// Any name, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Purchases that charge.
  public static let production = StoreEnvironment(rawValue: "Production")
  /// Test accounts, and review by Apple.
  public static let sandbox = StoreEnvironment(rawValue: "Sandbox")
  /// StoreKit testing in Xcode: ids restart at "0".
  public static let xcode = StoreEnvironment(rawValue: "Xcode")
  /// StoreKit testing from the command line: ids restart at "0".
  public static let localTesting = StoreEnvironment(rawValue: "LocalTesting")

  /// Whether transaction ids restart with each run, so that an id alone identifies nothing.
  public var reusesTransactionIDs: Bool { self == .xcode || self == .localTesting }
}
