import PurchaseQueue

/// The tokens that the backend refused, until it takes one of the same account, and what the app is asked for. Pure: the
/// caller passes the moment, in milliseconds of the monotonic clock. Never logged.
///
/// ```
///               refused                      refused again, an hour after the first
///   (no row) ───────────▶ refused for now ─────────────────────────────────────────▶ refused for long
///      ▲                   │   ▲                                                       │   │
///      └──── taken ────────┘   └────────────────────── signed in ──────────────────────┘   │
///      └──── taken ────────────────────────────────────────────────────────────────────────┘
/// ```
///
/// A token that is refused for now is sent again, at the pace of its lane: the backend may take it by now, and only it can
/// say so. One that is refused for long goes with no upload of the device any more: an account that is gone must not hold up
/// the device for ever.
struct TokenBook: CustomReflectable {
  /// What the backend did with a token.
  enum End { case taken, refused }

  private struct Row {
    /// The one that was refused last.
    var token: String
    /// When the first and the last of the refusals came, of those in a row.
    var first: Int64
    var last: Int64
  }

  private var rows: [Lane: Row] = [:]
  private var questions = TokenQuestions()

  /// An hour.
  static var patience: Int64 { 3_600_000 }

  /// The token of the account that the backend refused last; nil if it took the last one.
  func refused(of account: String) -> String? { rows[.account(account)]?.token }

  /// The backend has answered an upload: that says something about the tokens in it.
  mutating func answered(_ result: UploadClassification, to sender: BackendSender, at now: Int64) {
    switch (result, sender) {
    case (.verdicts, .account(let account, _)), (.verdicts, .device(_, let account?)):
      ended(.taken, account, at: now)
    case (.failure(.tokenRefused), .account(let account, _)),
      (.failure(.accountRefused), .device(_, let account?)):
      ended(.refused, account, at: now)
    default: break
    }
  }

  /// The backend has answered a request about orders.
  mutating func answered<Answer>(_ answer: OrderAnswer<Answer>, to account: AccountCredential, at now: Int64)
  {
    switch answer {
    case .success: ended(.taken, account, at: now)
    case .failure(.tokenRefused): ended(.refused, account, at: now)
    case .failure: break
    }
  }

  /// The backend has answered an adoption.
  mutating func answered(_ end: AdoptionEnd, to account: AccountCredential, at now: Int64) {
    switch end {
    case .taken: ended(.taken, account, at: now)
    case .failed(.tokenRefused): ended(.refused, account, at: now)
    case .failed: break
    }
  }

  /// The backend has answered a request with this credential.
  mutating func ended(_ end: End, _ credential: AccountCredential, at now: Int64) {
    let account = Lane.account(credential.account)
    guard end == .refused else { return rows[account] = nil }
    questions.refused(credential)
    rows[account] = Row(token: credential.token, first: rows[account]?.first ?? now, last: now)
  }

  /// The account has signed in: the refusals before say nothing of it.
  mutating func signedIn(_ account: String) {
    guard let last = rows[.account(account)]?.last else { return }
    rows[.account(account)]?.first = last
  }

  // MARK: Questions

  /// A request needs the account's token.
  mutating func needed(of account: String, at now: Int64) -> TokenQuestions.Step {
    questions.needed(of: account, refused: refused(of: account), at: now)
  }

  /// The app has answered a question, or no caller waits for it any more.
  mutating func answered(_ number: Int, of account: String, _ answer: CredentialAnswer, at now: Int64) {
    questions.answered(number, of: account, answer, at: now)
  }

  /// A wake has its effect.
  mutating func woken(_ reason: WakeReason) {
    questions.forgetKnown()
    if case .signedIn(let account) = reason { questions.forget(account) }
  }

  /// A person buys, or asks for orders: the account may have signed out since the wake.
  mutating func personActs() { questions.forgetKnown() }

  /// The engine goes to the background.
  mutating func suspended() { questions.suspended() }

  // MARK: Uploads of the device

  /// What an upload of the device takes of the app's answer: no token that is refused for long.
  func forDevice(_ answer: CredentialAnswer) -> CredentialAnswer {
    if case .token(let credential) = answer, isRefusedForLong(credential) { .none } else { answer }
  }

  func isRefusedForLong(_ credential: AccountCredential) -> Bool {
    guard let row = rows[.account(credential.account)], row.last - row.first >= Self.patience else {
      return false
    }
    return credential.token == row.token
  }

  /// Without the tokens.
  var customMirror: Mirror { Mirror(self, children: ["accounts": rows.count]) }
}
