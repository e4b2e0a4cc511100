public import Foundation
package import PurchaseSQLite

/// The reason why a call failed. The stored state is unchanged. Only after `storage`, `diskFull` and `cannotOpen` a later
/// opening may find that the call has happened after all: its sync failed, and its bytes reached the drive. It is never
/// half done, and repeating it is safe.
///
/// No case carries a payload, a token or a credential. More cases may come with later versions.
@nonexhaustive
public enum QueueError: Error, Hashable, Sendable {
  /// The call would pass a limit: `needed` entries or bytes, of `allowed`.
  case queueFull(QueueLimit, needed: Int, allowed: Int)
  /// A directory, or a file that is no queue, is at the path. It was left unchanged.
  case foreignFile(path: String, found: String)
  /// A newer version of this library wrote the file. It was left unchanged.
  case newerSchema(path: String, found: Int, supported: Int)
  /// The file cannot be used: a permission is missing, the disk is read-only, or the directory does not exist.
  case cannotOpen(path: String, reason: String)
  /// Another process held the file's lock for longer than the busy timeout. Try again.
  case busy(path: String, reason: String)
  /// The disk or a quota is full. Calls work again when there is space.
  case diskFull(path: String, reason: String)
  /// Stored bytes are damaged. Opening the file again salvages everything readable.
  case damaged(path: String, what: String)
  /// The file at the path is not the file that was opened: another process archived a damaged file, or the file was
  /// removed. Open it again.
  case replaced(path: String)
  /// Another failure of the storage.
  case storage(path: String, reason: String)
  /// The key has no entry.
  case unknownEntry(EntryKey)
  /// A value that cannot be stored, such as a kind of payload with a line break in it.
  case invalid(what: String)
  /// The queue was closed.
  case closed(path: String)
}

extension QueueError: LocalizedError {
  /// As the description, which is for logs and not for the users of an app: it names paths.
  public var errorDescription: String? { description }
}

extension QueueError: CustomStringConvertible {
  /// What failed, where, and what to do.
  public var description: String {
    switch self {
    case .queueFull(.tombstoneBytes, let needed, let allowed):
      "the queue is full: settled entries with a duty take \(needed) bytes of \(allowed). Tell their sources "
        + "or confirm their outcomes first"
    case .queueFull(let limit, let needed, let allowed):
      "the queue is full: \(limit.rawValue) would be \(needed), \(needed - allowed) more than the \(allowed) "
        + "allowed. Deliver or discard entries first"
    case .foreignFile(let path, let found):
      "\(path) holds \(found), not a queue. It was left unchanged; choose another path"
    case .newerSchema(let path, let found, let supported):
      "\(path) has schema version \(found), this library knows up to \(supported). It was left unchanged; update"
    case .cannotOpen(let path, let reason):
      "\(path) cannot be opened: \(reason). Check that its directory exists and is writable"
    case .busy(let path, let reason):
      "\(path) is locked by another process: \(reason). Try again"
    case .diskFull(let path, let reason):
      "no space to write \(path): \(reason). Nothing was changed; free some space and try again"
    case .damaged(let path, let what):
      "\(path) is damaged: \(what). Open it again to salvage what can be read"
    case .replaced(let path):
      "\(path) is not the file that was opened: another process replaced it. Open it again"
    case .storage(let path, let reason):
      "\(path): \(reason)"
    case .unknownEntry(let key):
      "there is no entry \(key)"
    case .invalid(let what):
      "\(what). Nothing was changed"
    case .closed(let path):
      "the queue \(path) was closed. Open it again"
    }
  }
}

extension QueueError {
  /// The only conversion of an SQLite error.
  package init(_ error: SQLiteError, path: String) {
    let reason = error.description
    switch error.code {
    case .busy, .locked: self = .busy(path: path, reason: reason)
    case .full: self = .diskFull(path: path, reason: reason)
    case .cannotOpen, .permission, .readOnly: self = .cannotOpen(path: path, reason: reason)
    case .corrupt, .notADatabase: self = .damaged(path: path, what: reason)
    default: self = .storage(path: path, reason: reason)
    }
  }

  /// Runs SQL and converts its errors.
  package static func wrap<R: ~Copyable>(
    _ path: String, _ body: () throws(SQLiteError) -> R
  ) throws(QueueError) -> R {
    do throws(SQLiteError) {
      return try body()
    } catch {
      throw QueueError(error, path: path)
    }
  }

  /// Runs file operations and converts their errors.
  package static func wrapFile<R: ~Copyable>(
    _ path: String, _ body: () throws(FileError) -> R
  ) throws(QueueError) -> R {
    do throws(FileError) {
      return try body()
    } catch {
      if error.isDiskFull { throw .diskFull(path: path, reason: error.description) }
      throw .cannotOpen(path: path, reason: error.description)
    }
  }
}

extension QueueError {
  /// True for damage and replacement: opening the file again repairs it as far as possible.
  public var asksForReopening: Bool {
    switch self {
    case .damaged, .replaced: true
    default: false
    }
  }
}
