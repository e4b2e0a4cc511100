import Foundation
import PurchaseSQLite
import PurchaseSync

/// The whole state of a backend at one moment.
public struct BackendBackup: Sendable, Hashable {
  package var writes: [BackendWrite]
}

/// Why the backend's file could not be read or written.
package struct BackendStoreError: Error, Hashable, Sendable, CustomStringConvertible {
  /// One line; never holds a proof or a token.
  package let description: String

  init(_ error: SQLiteError) { description = "the backend's store: \(error)" }

  /// A file of another schema version. It holds only test data, so it is refused and not migrated.
  init(version: Int64, at path: String) {
    description =
      "the backend's store: \(path) is of schema version \(version), not \(BackendTables.version); begin with a new file"
  }

  /// A file that is not a backend's. It was not changed.
  init(foreign path: String, _ found: String) {
    description = "the backend's store: \(path) is not a file of a mock server: \(found); name another file"
  }

  /// A file that another server has.
  init(served path: String) {
    description =
      "the backend's store: \(path) is served by another mock server; two would grant a purchase twice: stop the other "
      + "one, or name another file"
  }

  init(environment: String, of path: String, notOf wanted: String) {
    description =
      "the backend's store: \(path) holds a store of the environment \(environment), not \(wanted); name another file"
  }

  init(_ error: FileError) { description = "the backend's store: \(error)" }

  static func wrap<R>(_ body: () throws(FileError) -> R) throws(BackendStoreError) -> R {
    do throws(FileError) {
      return try body()
    } catch {
      throw BackendStoreError(error)
    }
  }

  /// Content that this version does not write.
  init(unreadable what: String) { description = "the backend's store: \(what) cannot be read" }
}
