import CPurchaseSQLite

/// A result code of SQLite, primary or extended (<https://sqlite.org/rescode.html>).
package struct ResultCode: RawRepresentable, Hashable, Sendable {
  package let rawValue: Int32

  package init(rawValue: Int32) { self.rawValue = rawValue }

  package static let ok = ResultCode(rawValue: SQLITE_OK)
  package static let error = ResultCode(rawValue: SQLITE_ERROR)
  package static let busy = ResultCode(rawValue: SQLITE_BUSY)
  package static let locked = ResultCode(rawValue: SQLITE_LOCKED)
  package static let readOnly = ResultCode(rawValue: SQLITE_READONLY)
  package static let ioError = ResultCode(rawValue: SQLITE_IOERR)
  package static let corrupt = ResultCode(rawValue: SQLITE_CORRUPT)
  package static let full = ResultCode(rawValue: SQLITE_FULL)
  package static let cannotOpen = ResultCode(rawValue: SQLITE_CANTOPEN)
  package static let constraint = ResultCode(rawValue: SQLITE_CONSTRAINT)
  package static let notADatabase = ResultCode(rawValue: SQLITE_NOTADB)
  package static let permission = ResultCode(rawValue: SQLITE_PERM)
  package static let row = ResultCode(rawValue: SQLITE_ROW)
  package static let done = ResultCode(rawValue: SQLITE_DONE)

  /// The low byte: what kind of failure it is, without the detail.
  package var primary: ResultCode { ResultCode(rawValue: rawValue & 0xff) }

  /// Matches a primary code against itself and all of its extended codes.
  package static func ~= (pattern: ResultCode, code: ResultCode) -> Bool {
    pattern == code || pattern == code.primary
  }
}
