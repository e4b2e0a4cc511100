import PurchaseQueue

/// The app is asked whose an account token is. Each entry is asked about until the app has answered, and later with each
/// failure.
struct OwnerQuestions {
  /// How often in a row the app did not answer.
  private var failures: [EntryKey: Int] = [:]

  mutating func answered(_ key: EntryKey) { failures[key] = nil }

  /// The app did not answer: the wait until it is asked again.
  mutating func failed(_ key: EntryKey, now: Timestamp, _ policy: RetryPolicy) -> Wait {
    failures[key, default: 0] += 1
    return Wait(.backoff, began: now, milliseconds: policy.ceiling(afterFailures: failures[key] ?? 1))
  }
}
