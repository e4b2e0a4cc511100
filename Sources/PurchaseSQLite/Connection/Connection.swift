import CPurchaseSQLite

/// One connection to one database file.
///
/// Not thread safe (opened with NOMUTEX): it belongs to one actor or one thread at a time. It holds no lock between
/// calls. It is closed when it goes out of scope.
@safe package struct Connection: ~Copyable {
  let handle: OpaquePointer
  package let path: String
  let busyTimeoutMilliseconds: Int32
  // Parsed once: for an entry of 8 KB, parsing BEGIN and COMMIT takes a tenth of the processor time of an enqueue.
  let begin: PreparedStatement
  let commit: PreparedStatement
  let savepoint: PreparedStatement
  let release: PreparedStatement
  let rollbackToSavepoint: PreparedStatement

  package enum Access: Sendable {
    /// Creates the file if it is absent.
    case create
    /// The file has to exist.
    case readWrite
    case readOnly
    /// Read only, while no other connection writes: takes no lock and creates neither `-wal` nor `-shm`.
    case immutable
  }

  /// - Parameter busyTimeoutMilliseconds: how long to wait for a lock of another connection.
  package init(
    path: String, on disk: Disk = .system, access: Access = .create, busyTimeoutMilliseconds: Int32 = 5_000
  ) throws(SQLiteError) {
    var opened: OpaquePointer?
    let uri = Self.uri(path: path, access: access)
    let flags = Self.flags(access) | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI | SQLITE_OPEN_EXRESCODE
    let result = unsafe sqlite3_open_v2(uri, &opened, flags, disk.vfs ?? CoalescedWALVFS.registered)
    guard result == SQLITE_OK, let opened = unsafe opened else {
      let error = unsafe SQLiteError(result: result, handle: opened, sql: nil)
      // "Whether or not an error occurs when it is opened, resources … should be released by passing it to
      // sqlite3_close()" (https://sqlite.org/c3ref/open.html).
      unsafe _ = sqlite3_close_v2(opened)
      throw error
    }
    unsafe begin = PreparedStatement(database: opened, "BEGIN IMMEDIATE")
    unsafe commit = PreparedStatement(database: opened, "COMMIT")
    unsafe savepoint = PreparedStatement(database: opened, "SAVEPOINT part")
    unsafe release = PreparedStatement(database: opened, "RELEASE part")
    unsafe rollbackToSavepoint = PreparedStatement(database: opened, "ROLLBACK TO part")
    unsafe self.handle = opened
    self.path = path
    self.busyTimeoutMilliseconds = busyTimeoutMilliseconds
    unsafe _ = sqlite3_busy_timeout(opened, busyTimeoutMilliseconds)
  }

  // close_v2: statements that are still alive keep the connection as a zombie until they are finalized.
  deinit { unsafe _ = sqlite3_close_v2(handle) }

  package func prepare(_ sql: String) throws(SQLiteError) -> Statement {
    try unsafe Statement(database: handle, sql: sql)
  }

  /// Runs one or more statements without values and without rows.
  package func execute(_ sql: String) throws(SQLiteError) {
    try unsafe SQLiteError.check(sqlite3_exec(handle, sql, nil, nil, nil), handle, sql: sql)
  }

  /// Rows changed by the last INSERT, UPDATE or DELETE.
  package var changes: Int { unsafe Int(sqlite3_changes(handle)) }

  /// Rows changed since the connection was opened.
  package var totalChanges: Int { unsafe Int(sqlite3_total_changes(handle)) }

  /// True if the file is no longer at its path: it was renamed, replaced or removed.
  package var hasMoved: Bool {
    var moved: Int32 = 0
    unsafe _ = sqlite3_file_control(handle, nil, SQLITE_FCNTL_HAS_MOVED, &moved)
    return moved != 0
  }

  /// Changes with every commit to the file, of this connection and of others. Up to date while a transaction is open.
  package var dataVersion: UInt32 {
    var version: UInt32 = 0
    unsafe _ = sqlite3_file_control(handle, nil, SQLITE_FCNTL_DATA_VERSION, &version)
    return version
  }

  /// Runs `body`, which waits for no lock of another connection: it fails at once with `busy`.
  package func withoutWaiting<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    unsafe _ = sqlite3_busy_timeout(handle, 0)
    defer { unsafe _ = sqlite3_busy_timeout(handle, busyTimeoutMilliseconds) }
    return try body()
  }

  package var isInTransaction: Bool { unsafe sqlite3_get_autocommit(handle) == 0 }

  /// The version of the library in use, such as "3.40.1".
  package static var libraryVersion: String { unsafe String(cString: sqlite3_libversion()) }

  private static func flags(_ access: Access) -> Int32 {
    switch access {
    case .create: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
    case .readWrite: SQLITE_OPEN_READWRITE
    case .readOnly, .immutable: SQLITE_OPEN_READONLY
    }
  }

  /// A file URI that escapes the special characters of the path.
  private static func uri(path: String, access: Access) -> String {
    if path == ":memory:" { return path }
    // With an empty authority: otherwise a path that starts with two slashes would name a host.
    var uri = path.hasPrefix("/") ? "file://" : "file:"
    for scalar in path.unicodeScalars {
      switch scalar {
      case "?": uri += "%3f"
      case "#": uri += "%23"
      case "%": uri += "%25"
      default: uri.unicodeScalars.append(scalar)
      }
    }
    return uri + (access == .immutable ? "?immutable=1" : "")
  }
}
