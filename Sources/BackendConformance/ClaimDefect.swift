import AppStoreReceipts

/// A claim that no client sends: a check sends it, and a planted bug takes it.
struct ClaimDefect: Sendable {
  /// A part of the check's name and of the bug's.
  let word: String
  /// What is wrong about the claim.
  let what: String
  let member: String
  let value: JSONValue

  private init(_ word: String, _ what: String, _ member: String, _ value: JSONValue) {
    (self.word, self.what, self.member, self.value) = (word, what, member, value)
  }

  static let all: [ClaimDefect] = [
    ClaimDefect("no-id", "with a blank transaction id", "transactionID", ""),
    ClaimDefect("id-number", "whose transaction id is a number", "transactionID", 17),
    ClaimDefect("no-product", "with a blank product", "productID", ""),
    ClaimDefect("no-units", "for no unit", "quantity", 0),
    ClaimDefect("text-units", "whose quantity is a text", "quantity", "1"),
    ClaimDefect("text-time", "whose time is a text", "purchasedAt", "2026-01-01"),
    ClaimDefect("no-match", "without a match", "match", .null),
    ClaimDefect("no-place", "without an environment", "environment", .null),
    ClaimDefect("bound-to-nothing", "that is bound and names no order", "match", "bound"),
  ]
}
