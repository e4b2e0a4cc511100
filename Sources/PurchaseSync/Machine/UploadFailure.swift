package import PurchaseQueue

/// Why an upload brought no verdicts, and what that means for its lane. None of them is final.
package enum UploadFailure: Error, Hashable {
  /// No answer, or none of the protocol: the lane waits. `retryAfterMilliseconds` is the Retry-After, if there is one.
  case retry(reason: String, retryAfterMilliseconds: Int64?)
  /// The backend failed while it worked on the request (500, 501): as `retry`, but what is in it may be the cause.
  case requestFailed(reason: String, retryAfterMilliseconds: Int64?)
  /// The backend is overloaded (429, 503): as `retry`, but its Retry-After holds for every lane.
  case backendBusy(reason: String, retryAfterMilliseconds: Int64?)
  /// The backend refused what is in the request: reported, and retried with the backoff, since a refusal may be a short
  /// fault of the backend.
  case backendFault(reason: String)
  /// There are no credentials.
  case signInNeeded
  /// The backend refused the credentials. They are asked for again at once, and then slowly.
  case tokenRefused
  /// The backend refused the credential of the account that is signed in on the device, next to the device's own. A
  /// newer one is asked for; if there is none for an hour, the next upload names no account.
  case accountRefused
  /// The backend does not speak this version of the protocol. Nothing of the request is at fault: it is sent again
  /// slowly, and at the next start, which may be that of a newer version of the app.
  case otherProtocol(reason: String)
  /// The proof was queued by reference, and the store does not hold the transaction just now.
  case proofMissing
  /// The stored details of this entry cannot be sent. Only this entry fails.
  case unreadable(EntryKey, reason: String)
  /// Another process is sending this lane. It is tried again after a while, and no failure is counted.
  case laneTaken
  /// The request could not be prepared: a part of it cannot be read now, on this device.
  case unprepared(reason: String)
  /// The engine itself ended the request. It is sent again at the next wake-up, and no failure is counted.
  case interrupted

  /// What a failure says about the entries of the request.
  package enum Blame: Hashable, Sendable {
    /// It did not reach the backend, or the answer says nothing about what is in it.
    case nothing
    /// The backend failed on it, as it may on each request.
    case request
    /// The backend refused what is in it.
    case content
  }

  /// Whether the entries of the request may be at fault.
  package var blame: Blame {
    switch self {
    case .requestFailed: .request
    case .backendFault: .content
    default: .nothing
    }
  }

  /// The failure as a lane sees it. The device lane has its own credential, and no user could sign in: a refusal is a
  /// fault of the backend.
  package func inLane(_ lane: Lane) -> UploadFailure {
    let refused = UploadFailure.backendFault(reason: "the device's credential was refused")
    switch self {
    case .signInNeeded: return lane == .device ? refused : self
    // A question is sent in the name of the device, too. Only its account can be missing.
    case .tokenRefused: return lane == .device || lane.asker != nil ? refused : self
    default: return self
    }
  }
}
