/// A token of an account that the backend refused. Pure: the caller passes the moment, in milliseconds of the monotonic
/// clock. Never logged.
struct RefusedToken: Sendable {
  /// The one that was refused last.
  private(set) var token: String
  /// When the first and the last of the refusals came, of those in a row.
  private var first: Int64
  private var last: Int64

  /// An hour.
  private static var patience: Int64 { 3_600_000 }

  init(_ token: String, at now: Int64) {
    self.token = token
    (first, last) = (now, now)
  }

  mutating func refused(_ token: String, at now: Int64) {
    self.token = token
    last = now
  }

  /// The account has signed in: the refusals before say nothing of it.
  mutating func signedIn() { first = last }

  /// Whether the backend still refused it an hour after the first refusal: then an upload of the device goes without the
  /// account, because an account that is gone must not hold up the device for ever.
  var isLasting: Bool { last - first >= Self.patience }
}
