/// The verdict about an image that a crash could leave.
enum ImageVerdict: Hashable, Sendable {
  /// The file is as it was after some commit.
  case recovered(LogicalState)
  /// It cannot be opened, its pages are damaged, or its content breaks a promise.
  case broken(String)
}

/// Why an image, or a run with a fault, is a failure.
struct ImageFailure: Hashable, Sendable, Codable {
  enum Kind: String, Codable, Sendable, CaseIterable {
    /// A commit that had returned is not there (invariant 12).
    case lost
    /// The file was never in this state (invariant 12), or cannot be read.
    case corrupt
    /// Another invariant does not hold.
    case broken
    /// After an error the state is neither the one before nor the one after, or work does not go on.
    case fault
  }

  var kind: Kind
  /// The failure, with the number of the invariant if it has one.
  var what: String
  /// The argument of `--replay`.
  var replay: String
}
