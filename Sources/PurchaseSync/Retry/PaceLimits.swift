/// The most that an engine does within a minute, whatever callbacks, backend and store do: it follows from the policy and
/// the paces. A person's own purchases come on top.
package struct PaceLimits: Hashable, Sendable {
  /// What is counted. The most of it within a minute is in `self[kind]`.
  package enum Kind: Int, CaseIterable, Sendable {
    /// Uploads of purchases.
    case upload
    /// Calls of the store: lists, receipts, finishes.
    case store
    /// Requests to the backend, uploads included.
    case request
    /// Calls of the app's `fulfil`.
    case fulfil
    /// Questions for the app's credentials.
    case credentials

    /// In the plural.
    package var words: String {
      switch self {
      case .upload: "uploads"
      case .store: "calls of the store"
      case .request: "requests"
      case .fulfil: "calls of fulfil"
      case .credentials: "questions for credentials"
      }
    }
  }

  /// Uploads of purchases: one in each pace while the backend fails and after that, what the budget allows in addition,
  /// and one for each list of the store. While the backend is well, what is repeated has a pace below that.
  package let uploads: Int
  /// Requests to the backend, uploads included: what else is sent follows a wake.
  package let requests: Int
  /// Calls of the store: lists, repeated finishes, and one finish for each answered upload.
  package let storeCalls: Int
  /// Calls of the app's `fulfil`: one for each answered upload, and repeated ones.
  package let fulfilments: Int
  /// Questions for the app's credentials: one for each upload, and for each sign-in. Other requests share those.
  package let questions: Int

  private static var minute: Int64 { 60_000 }

  package init(_ policy: RetryPolicy = RetryPolicy()) {
    let minute = Self.minute
    let paced = Int(clamping: minute / max(1, policy.paceMilliseconds))
    let returned = Int(clamping: minute / max(1, policy.budgetIntervalMilliseconds))
    let lists = CallPace.listings.most(within: minute)
    uploads = paced + max(1, policy.budgetBurst) + returned + lists
    requests = uploads + CallPace.wakes.most(within: minute)
    storeCalls = uploads + lists + CallPace.finishRepeats.most(within: minute)
    fulfilments = uploads + CallPace.fulfilmentRetries.most(within: minute)
    questions = uploads + CallPace.signIns.most(within: minute)
  }

  package subscript(kind: Kind) -> Int {
    switch kind {
    case .upload: uploads
    case .store: storeCalls
    case .request: requests
    case .fulfil: fulfilments
    case .credentials: questions
    }
  }

  /// The most of all engines of one file: their uploads share a pace, which is in the file. The rest each engine has itself.
  package func most(of kind: Kind, engines: Int) -> Int { uploads + engines * (self[kind] - uploads) }
}

extension PaceLimits.Kind {
  private static let limits = PaceLimits()

  /// The most within a minute, by the documented policy.
  package var limit: Int { Self.limits[self] }
  /// The same of several engines of one file.
  package func limit(of engines: Int) -> Int { Self.limits.most(of: self, engines: engines) }
}
