/// The most that an engine does within a minute, whatever callbacks, backend and store do: it follows from the policy and
/// the paces. A person's own purchases come on top.
package struct PaceLimits: Hashable, Sendable {
  /// Uploads of purchases: one in each pace while the backend fails and after that, what the budget allows besides, and
  /// one for each list of the store. While the backend is well, what is repeated has a pace below that.
  package let uploads: Int
  /// Requests to the backend, uploads included: what else is sent follows a wake.
  package let requests: Int
  /// Calls of the store: lists, repeated finishes, and one finish for each answered upload.
  package let storeCalls: Int
  /// Calls of the app's `fulfil`: one for each answered upload, and repeated ones.
  package let fulfilments: Int
  /// Questions for the app's credentials: one for each upload, and for each sign-in.
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
}
