/// A failure that no caller waits for. The queue continues without the failed step and repeats it later.
///
/// Holds no payload, token or credential.
public struct Diagnostic: Hashable, Sendable {
  /// The step that failed. More cases may come with later versions.
  @nonexhaustive
  public enum Operation: String, Hashable, Sendable, Codable {
    /// The vault did not store an item. Its purchase stays durable in the file; the next opening mirrors it again.
    case vaultStore
    /// The vault did not return its items. The next opening reads them again.
    case vaultRead
    /// The vault did not remove an item. The next opening removes it.
    case vaultRemove
    /// The file did not store whether an entry is mirrored. The next opening finds out again.
    case vaultFlag
    /// A sequence of deliveries could not read or postpone an entry. It tries again; the entry stays queued.
    case delivery
    /// Maintenance failed. It is tried again after the next commits.
    case maintenance
    /// The background check could not run, or could not isolate what it found. The next read of a damaged value
    /// finds it again.
    case backgroundCheck
  }

  /// The step that failed.
  public var operation: Operation
  /// The name of the vault's item, or the path of the queue's file.
  public var subject: String
  /// The description of the error.
  public var reason: String

  /// A failed step.
  package init(_ operation: Operation, _ subject: String, _ error: any Error) {
    self.operation = operation
    self.subject = subject
    reason = "\(error)"
  }
}

extension Diagnostic: CustomStringConvertible {
  /// The step, its subject and the reason, in one line.
  public var description: String { "\(operation.rawValue), \(subject): \(reason)" }
}
