package import PurchaseSQLite

/// Why the queue could not do what it was asked for. Whatever it is, the stored state is as it was before.
///
/// No case carries a proof, a token or a credential. More cases may come with later versions.
@nonexhaustive
public enum QueueError: Error, Hashable, Sendable {
  /// A limit would be passed: `needed` entries or bytes, where `allowed` are.
  case queueFull(QueueLimit, needed: Int, allowed: Int)
  /// There is a directory, or something that is no queue, at the path. It was not touched.
  case foreignFile(path: String, found: String)
  /// A newer version of this library wrote the file. It was not touched.
  case newerSchema(path: String, found: Int, supported: Int)
  /// The file, its directory or the disk does not let us work: permission, read-only, missing directory.
  case cannotOpen(path: String, reason: String)
  /// Somebody else held the file's lock for longer than the busy timeout. Try again.
  case busy(path: String, reason: String)
  /// The disk, or a quota, is full. Works again when there is room.
  case diskFull(path: String, reason: String)
  /// Stored bytes are not what was written. Opening the file anew salvages what can be read.
  case damaged(path: String, what: String)
  /// The file at the path is not the one that was opened: another process set a damaged file aside, or it was
  /// removed. Open it again.
  case replaced(path: String)
  /// Another failure of the storage below.
  case storage(path: String, reason: String)
  /// There is no such entry.
  case unknownEntry(EntryKey)
  /// A value that cannot be stored, such as a kind of proof with a line break in it.
  case invalid(what: String)
  /// The queue was closed.
  case closed(path: String)
}

extension QueueError: CustomStringConvertible {
  /// What, where, and what to do.
  public var description: String {
    switch self {
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
      "no room to write \(path): \(reason). Nothing was changed; free some space and try again"
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
  /// The one place where an error of SQLite becomes one of the queue.
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

  /// Runs SQL, with its errors as the queue's.
  package static func wrap<R: ~Copyable>(
    _ path: String, _ body: () throws(SQLiteError) -> R
  ) throws(QueueError) -> R {
    do throws(SQLiteError) {
      return try body()
    } catch {
      throw QueueError(error, path: path)
    }
  }

  /// Works on files, with their errors as the queue's.
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
  /// True if opening the file anew mends it, as far as it can be mended: damage and replacement.
  public var asksForReopening: Bool {
    switch self {
    case .damaged, .replaced: true
    default: false
    }
  }
}
