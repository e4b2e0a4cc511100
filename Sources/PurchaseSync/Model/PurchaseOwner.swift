package import PurchaseQueue

/// Whose purchase a settled transaction is, as the backend tells the device that asked. An open set. It names no person.
public struct PurchaseOwner: RawRepresentable, Hashable, Sendable, Codable {
  /// The word on the wire.
  public var rawValue: String

  /// Any word, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// It belongs to the account of the lane, or to the account that is signed in on the device and has proved it.
  public static let yours = PurchaseOwner(rawValue: "yours")
  /// Another account has it. The backend says neither who that is nor which order it fulfilled.
  public static let another = PurchaseOwner(rawValue: "another")
  /// No account has it: it belongs to this device until an account adopts the device's purchases.
  public static let device = PurchaseOwner(rawValue: "device")

  /// The owner where the backend does not say: the lane's, or another one.
  static func usual(of verdict: Verdict, in lane: Lane) -> PurchaseOwner {
    if verdict == .otherOwner { return .another }
    return lane.account == nil ? .device : .yours
  }

  /// The owner after a verdict. `otherOwner` is always another account's, and a word of a newer protocol counts as none.
  package static func settled(_ verdict: Verdict, told: PurchaseOwner?, in lane: Lane) -> PurchaseOwner {
    let usual = usual(of: verdict, in: lane)
    guard let told, verdict != .otherOwner, [.yours, .another, .device].contains(told) else { return usual }
    return told
  }
}

/// The outcome of a tombstone: the verdict, the owner if it is not the usual one, and of the device lane the account that
/// proved the purchase to be its own, such as `duplicate/yours/alice`. The account is last: its name may hold anything.
extension Tombstone {
  private static var separator: Character { "/" }

  /// The text that is stored as the outcome.
  package static func outcome(
    _ verdict: Verdict, owner: PurchaseOwner?, provenBy account: String? = nil
  ) -> String {
    guard let owner else { return verdict.rawValue }
    return [verdict.rawValue, owner.rawValue, account].compactMap { $0 }.joined(separator: String(separator))
  }

  private var words: [Substring] {
    outcome.split(separator: Self.separator, maxSplits: 2, omittingEmptySubsequences: false)
  }

  /// The backend's verdict in the text of an outcome.
  package static func verdict(in outcome: String) -> Verdict {
    Verdict(rawValue: String(outcome.prefix { $0 != separator }))
  }

  /// The backend's verdict.
  package var verdict: Verdict { Self.verdict(in: outcome) }

  /// Whose purchase it is.
  package var owner: PurchaseOwner {
    let told = words.dropFirst().first
    return .settled(verdict, told: told.map { PurchaseOwner(rawValue: String($0)) }, in: lane)
  }

  /// The account whose credential came with the upload that was answered with `yours`.
  package var provenBy: String? { words.dropFirst(2).first.map { String($0) } }
}
