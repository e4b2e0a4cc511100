import CPurchaseSQLite
import PurchaseSQLite

/// Counts the statements that begin on each connection that is opened from now on.
enum StatementCount {
  private static let count = Locked(0)
  private static let installed: Int32 = {
    let trace:
      @convention(c) (OpaquePointer?, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, OpaquePointer?) ->
        Int32 = { connection, _, _ in
          unsafe sqlite3_trace_v2(
            connection, UInt32(SQLITE_TRACE_STMT),
            { _, _, _, _ in
              StatementCount.count.withLock { $0 += 1 }
              return 0
            }, nil)
        }
    // SQLite calls it with the connection: https://sqlite.org/c3ref/auto_extension.html
    return unsafe sqlite3_auto_extension(unsafeBitCast(trace, to: (@convention(c) () -> Void).self))
  }()

  /// Begins to count.
  static func install() throws(BenchError) {
    guard installed == SQLITE_OK else { throw .sqlite(code: installed, doing: "count statements") }
  }

  static var value: Int { count.value }
}
