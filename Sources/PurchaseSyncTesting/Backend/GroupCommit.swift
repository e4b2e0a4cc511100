import Foundation

/// One commit for all requests that arrived during the last commit.
///
/// A thread that finds no commit running commits for all; the others wait. A class around NSCondition, `@unchecked`
/// because the state is private and used under it only.
final class GroupCommit: @unchecked Sendable {
  /// The end of a batch: every change up to this number is decided.
  struct Outcome {
    var through: Int
    var failure: BackendStoreError?
  }

  private struct Failure {
    var after: Int
    var through: Int
    var error: BackendStoreError
  }

  private let condition = NSCondition()
  private var isCommitting = false
  private var decided = 0
  /// One for each batch that failed, which is rare.
  private var failures: [Failure] = []

  /// Returns when the change of this number, and all before it, are durable; throws if it did not happen.
  func wait(for number: Int, commit: () -> Outcome) throws(BackendStoreError) {
    condition.lock()
    while decided < number {
      guard !isCommitting else {
        condition.wait()
        continue
      }
      isCommitting = true
      condition.unlock()
      let outcome = commit()
      condition.lock()
      if let error = outcome.failure { note(error, outcome.through) }
      decided = max(decided, outcome.through)
      isCommitting = false
      condition.broadcast()
    }
    let failure = failures.first { $0.after < number && number <= $0.through }
    condition.unlock()
    if let failure { throw failure.error }
  }

  /// Consecutive failures are stored as one. No thread waits for very old ones.
  private func note(_ error: BackendStoreError, _ through: Int) {
    if let last = failures.last, last.through == decided {
      failures[failures.count - 1].through = through
    } else {
      failures.append(Failure(after: decided, through: through, error: error))
    }
    if failures.count > 1_000 { failures.removeFirst(500) }
  }
}
