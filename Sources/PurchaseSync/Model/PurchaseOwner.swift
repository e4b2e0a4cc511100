package import PurchaseQueue

/// Whose purchase a settled transaction is, as the backend answers the device that asked. An open set. It names no
/// person.
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
  private static var separator: UInt8 { UInt8(ascii: "/") }

  /// The text that is stored as the outcome.
  package static func outcome(
    _ verdict: Verdict, owner: PurchaseOwner?, provenBy account: String? = nil
  ) -> String {
    guard let owner else { return verdict.rawValue }
    return [verdict.rawValue, owner.rawValue, account].compactMap { $0 }
      .joined(separator: String(Unicode.Scalar(separator)))
  }

  /// The text in front of the first separator, and the rest; nil if there is none. Read for each outcome that an app
  /// hears, so byte by byte.
  private static func divided(_ text: Substring) -> (head: String, rest: Substring?) {
    guard let end = text.utf8.firstIndex(of: separator) else { return (String(text), nil) }
    return (String(text[..<end]), text[text.utf8.index(after: end)...])
  }

  /// The backend's verdict in the text of an outcome.
  package static func verdict(in outcome: String) -> Verdict { Verdict(rawValue: divided(outcome[...]).head) }

  /// The backend's verdict.
  package var verdict: Verdict { Self.verdict(in: outcome) }

  /// Whose purchase it is.
  package var owner: PurchaseOwner {
    let (verdict, rest) = Self.divided(outcome[...])
    let told = rest.map { PurchaseOwner(rawValue: Self.divided($0).head) }
    return .settled(Verdict(rawValue: verdict), told: told, in: lane)
  }

  /// The account whose credential came with the upload that was answered with `yours`.
  package var provenBy: String? {
    Self.divided(outcome[...]).rest.flatMap { Self.divided($0).rest }.map { String($0) }
  }
}
