package import Foundation
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
  package static func settled(_ verdict: Verdict, stated: PurchaseOwner?, in lane: Lane) -> PurchaseOwner {
    let usual = usual(of: verdict, in: lane)
    let isKnown = stated.map { [.yours, .another, .device].contains($0) } ?? false
    guard let stated, isKnown, verdict != .otherOwner else { return usual }
    return stated
  }
}

/// The outcome of a tombstone: the verdict, the owner if it is not the usual one, and of the device lane the account that
/// proved the purchase to be its own, such as `duplicate/yours/alice`. The account is last: its name may hold anything.
/// What a verdict says of a refund is behind its word, such as `refunded:33333:1/yours`.
extension Tombstone {
  private static var separator: UInt8 { UInt8(ascii: "/") }

  /// The text that is stored as the outcome.
  package static func outcome(
    _ verdict: Verdict, owner: PurchaseOwner?, provenBy account: String? = nil, refund: RefundNote? = nil
  ) -> String {
    let head = refund?.text(after: verdict) ?? verdict.rawValue
    guard let owner else { return head }
    return [head, owner.rawValue, account].compactMap { $0 }
      .joined(separator: String(Unicode.Scalar(separator)))
  }

  /// The text in front of the first separator, and the rest; nil if there is none. Read for each outcome that an app
  /// receives, so byte by byte.
  private static func divided(_ text: Substring) -> (head: String, rest: Substring?) {
    guard let end = text.utf8.firstIndex(of: separator) else { return (String(text), nil) }
    return (String(text[..<end]), text[text.utf8.index(after: end)...])
  }

  /// Whether the answer to a question of one account says something new of the transaction, whose outcome may be another
  /// account's. Of another account's purchase it does not say how much is refunded.
  static func isNews(_ answer: String, since outcome: String) -> Bool {
    if verdict(in: answer).isOver != verdict(in: outcome).isOver { return true }
    guard let note = refundNote(in: answer), statedOwner(in: answer) != .another else { return false }
    return note != refundNote(in: outcome)
  }

  private static func statedOwner(in outcome: String) -> PurchaseOwner? {
    divided(outcome[...]).rest.map { PurchaseOwner(rawValue: divided($0).head) }
  }

  /// The backend's verdict in the text of an outcome.
  package static func verdict(in outcome: String) -> Verdict {
    Verdict(rawValue: RefundNote.divided(divided(outcome[...]).head).word)
  }

  /// What the verdict in the text of an outcome says of a refund; nil for nothing.
  package static func refundNote(in outcome: String) -> RefundNote? {
    RefundNote.divided(divided(outcome[...]).head).note
  }

  /// The backend's verdict.
  package var verdict: Verdict { Self.verdict(in: outcome) }

  /// What the backend's verdict says of a refund; nil for nothing.
  package var refundNote: RefundNote? { Self.refundNote(in: outcome) }

  /// Whose purchase it is.
  package var owner: PurchaseOwner {
    .settled(verdict, stated: Self.statedOwner(in: outcome), in: lane)
  }

  /// The account whose credential came with the upload that was answered with `yours`.
  package var provenBy: String? {
    Self.divided(outcome[...]).rest.flatMap { Self.divided($0).rest }.map { String($0) }
  }
}

/// The account token of a guest's payment. It is recognised by itself: after a reinstall, and on another device of the same
/// Apple ID, which know nothing of the payment.
extension UUID {
  /// Its first six bytes.
  private static var mark: [UInt8] { Array("guest:".utf8) }

  /// The token of a guest's payment, with the random bits of another UUID.
  static func guest(from random: UUID) -> UUID {
    let (head, tail) = (mark, random.uuid)
    // Version 8 is for formats of one's own: no random UUID, which has version 4, looks like it.
    return UUID(
      uuid: (
        head[0], head[1], head[2], head[3], head[4], head[5], tail.6 & 0x0F | 0x80, tail.7, tail.8, tail.9,
        tail.10, tail.11, tail.12, tail.13, tail.14, tail.15
      ))
  }

  /// Whether a guest has paid with this token.
  package var isGuest: Bool {
    let bytes = uuid
    let head = [bytes.0, bytes.1, bytes.2, bytes.3, bytes.4, bytes.5]
    return head == Self.mark && bytes.6 >> 4 == 8
  }
}
