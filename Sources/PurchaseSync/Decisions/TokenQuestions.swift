import PurchaseQueue

/// When the app is asked for an account's token. All who need it at once share one question, and the token holds for what else
/// the wake brings. Pure: the caller passes the moment, in milliseconds of the monotonic clock. Never logged.
///
/// ```
///               needed              a token came
///   (no row) ──────────▶ asked ──────────────────────▶ known ──┐
///     ▲  ▲               │ ▲ │                         │  ▲   │ needed: taken
///     │  └─ none, late ──┘ │ │ needed: joined          │  └───┘
///     │                    └─┘                         │
///     ├─ refused, signed in, background ─ asked, known │
///     └─ wake, purchase, a minute ─────────────────────┘
/// ```
///
/// A token may expire, so it holds for a minute at most. That there is none never holds: the account may sign in.
struct TokenQuestions {
  enum Step: Hashable {
    case take(AccountCredential)
    /// Wait for the answer to this question.
    case join(Int)
    /// Ask the app this question. → `answered`
    case ask(Int)
  }

  private enum Row {
    /// The question names the token that the backend has refused.
    case asked(Int, refused: String?)
    case known(String, since: Int64)
  }

  private var rows: [Lane: Row] = [:]
  private var asked = 0

  /// The longest time for which a token holds.
  static var longest: Int64 { 60_000 }

  /// A request needs the token. `refused`: the token of the account that the backend refused last.
  mutating func needed(of account: String, refused: String?, at now: Int64) -> Step {
    switch rows[.account(account)] {
    case .known(let token, let since) where now - since < Self.longest:
      return .take(AccountCredential(account: account, token: token))
    case .asked(let number, _): return .join(number)
    default:
      asked += 1
      rows[.account(account)] = .asked(asked, refused: refused)
      return .ask(asked)
    }
  }

  /// The app has answered a question, or no caller waits for it any more.
  mutating func answered(_ number: Int, of account: String, _ answer: CredentialAnswer, at now: Int64) {
    guard case .asked(number, _) = rows[.account(account)] else { return }
    if case .token(let credential) = answer {
      rows[.account(account)] = .known(credential.token, since: now)
    } else {
      rows[.account(account)] = nil
    }
  }

  /// The backend has refused a token. A question that does not name it may bring it again.
  mutating func refused(_ credential: AccountCredential) {
    switch rows[.account(credential.account)] {
    case .known(credential.token, _): forget(credential.account)
    case .asked(_, let named) where named != credential.token: forget(credential.account)
    default: break
    }
  }

  /// Who needs the token from now on asks again.
  mutating func forget(_ account: String) { rows[.account(account)] = nil }

  /// A wake or a purchase came. The answer to a question that is under way comes after it.
  mutating func forgetKnown() {
    rows = rows.filter { if case .asked = $0.value { true } else { false } }
  }

  /// The engine goes to the background.
  mutating func suspended() { rows = [:] }
}
