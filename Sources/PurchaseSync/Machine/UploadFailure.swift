/// Why an upload brought no verdicts, and what that means for its lane. None of them is final.
package enum UploadFailure: Hashable, Sendable {
  /// No answer, or a body that is not ours. `retryAfterMilliseconds` if the backend gave one.
  case retry(reason: String, retryAfterMilliseconds: Int64?)
  /// A refusal that the same request will meet again: tried at the cap's pace, and reported.
  case backendFault(reason: String)
  /// Credentials are missing or refused.
  case signInNeeded
  /// The proof was queued by reference, and the store does not hold the transaction just now.
  case proofMissing
}
