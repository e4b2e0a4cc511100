import PurchaseSQLite

/// The settings with which a backend's file was created.
struct BackendIdentity {
  var bundleID: String
  var seed: UInt64
  /// How many times a backup was restored.
  var restorations = 0
  /// How many blocks of transaction ids were given away.
  var idBlocks = 0

  /// Creates the schema in a new file, or reads the identity of an existing one.
  static func openOrCreate(
    _ connection: borrowing Connection, bundleID: String, seed: UInt64
  ) throws(BackendStoreError) -> BackendIdentity {
    do throws(SQLiteError) {
      if try connection.userVersion == 0 {
        try connection.transaction(failing: { $0 }) { () throws(SQLiteError) in
          try connection.execute(BackendTables.schema)
          try connection.prepare("INSERT INTO identity VALUES (?, ?, 0, 1)")
            .run([.text(bundleID), .integer(Int64(bitPattern: seed))])
        }
      }
      let stored = try connection.prepare("SELECT bundle_id, seed, restorations, id_blocks FROM identity")
        .first {
          BackendIdentity(
            bundleID: $0.text(0), seed: UInt64(bitPattern: $0.integer(1)),
            restorations: Int($0.integer(2)), idBlocks: Int($0.integer(3)))
        }
      if let stored { return stored }
    } catch {
      throw BackendStoreError(error)
    }
    throw BackendStoreError(unreadable: "its identity")
  }
}
