import PurchaseQueue

/// What a lane is doing. Whether it waits, its backoff and the backend's pace say.
enum LaneActivity: Hashable {
  /// Nothing is out. → sending, when there is something to send and it is admitted
  case idle
  /// One request is out, with these entries as they were then. → idle, signInNeeded
  case sending([Entry])
  /// The credentials are missing or refused. → idle, when woken
  case signInNeeded
}

/// What the machine knows of a lane beside what is stored.
struct LaneState: Hashable {
  var activity = LaneActivity.idle
  var backoff = LaneBackoff()
  /// What the next request is for: a person's may use the reserve of the budget.
  var purpose = RetryBudget.Purpose.retry
  /// Somebody signed in while a request was out: that its credentials were refused says nothing about the new ones.
  var hasSignedIn = false

  /// Whose turn is next: of those that had to wait, or of those that never had. Neither keeps the other waiting for
  /// more than one upload, however many they are and however often they come due.
  var isDueNext = false

  /// The answer to what was out has been dealt with.
  mutating func ended(_ backoff: LaneBackoff) {
    activity = .idle
    self.backoff = backoff
  }

  /// What is out, if it is.
  var sent: [Entry] {
    if case .sending(let entries) = activity { entries } else { [] }
  }
}

/// A transaction that the store has to be told of.
struct Finishing: Hashable {
  var isCalling = true
  var failures = 0
  /// After a failure: when it is told again.
  var due: Timestamp?

  /// False if it is being told already.
  mutating func begin() -> Bool {
    defer { (isCalling, due) = (true, nil) }
    return !isCalling
  }
}

/// A claim of the device's purchases that is under way.
struct Claiming: Hashable {
  /// Entries up to this place are covered.
  var throughPlace: Int64
  var isSending = false
  /// The request that is out covers all of it: when it went, the device lane held nothing of it any more.
  var isLast = false
  /// The backend took it; it is sent once more when the lane is empty of what it covers.
  var isTaken = false
  var needsSignIn = false
  /// As `LaneState.hasSignedIn`.
  var hasSignedIn = false
  var backoff = LaneBackoff()
  var purpose = RetryBudget.Purpose.retry
}
