package import PurchaseQueue

/// Why an upload brought no verdicts, and what that means for its lane. None of them is final.
package enum UploadFailure: Hashable, Sendable {
  /// No answer, or one that is not ours: the lane waits. `retryAfterMilliseconds` if the backend gave one.
  case retry(reason: String, retryAfterMilliseconds: Int64?)
  /// The backend has too much to do (429, 503): as `retry`, and what it asked for holds for every lane.
  case backendBusy(reason: String, retryAfterMilliseconds: Int64?)
  /// A refusal that the same request will meet again: tried at the cap's pace, and reported.
  case backendFault(reason: String)
  /// Credentials are missing or refused.
  case signInNeeded
  /// The proof was queued by reference, and the store does not hold the transaction just now.
  case proofMissing
  /// What is stored with an entry says nothing that could be sent: nobody's failure but its own.
  case unreadable(EntryKey, reason: String)
  /// Another process is sending this lane: nobody's failure. It is tried again after a while.
  case laneTaken
  /// It could not be put together: something that belongs to it cannot be read now, on this device.
  case unprepared(reason: String)
  /// The engine itself ended the request: nobody's failure. It is sent again at the next wake-up.
  case interrupted

  /// What it means for a lane. The device lane has a credential of its own and nobody who could sign in: that it is
  /// refused is a fault of the backend.
  package func inLane(_ lane: Lane) -> UploadFailure {
    switch (self, lane) {
    case (.signInNeeded, .device): .backendFault(reason: "the device's credential was refused")
    default: self
    }
  }
}
