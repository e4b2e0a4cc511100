import PurchaseSQLite

/// For people who look for something: not on the way of a purchase.
extension QueueFile {
  /// The tombstones of the entries that were settled last, the newest first, at most `limit`. One that does not match
  /// its checksum is passed over.
  public func newestTombstones(_ limit: Int) throws(QueueError) -> [Tombstone] {
    let stored = try read { () throws(SQLiteError) in
      try connection.prepare(
        "SELECT \(StoredTombstone.columns) FROM tombstones ORDER BY settled_at DESC, key DESC LIMIT ?"
      ).all([.integer(Int64(max(0, limit)))]) { StoredTombstone($0) }
    }
    return stored.filter(\.isWhole).map(\.tombstone)
  }

  /// The keys, queued or settled, that are this text, or of which it is all that follows a slash: a key may be known
  /// by its last part only. In alphabetical order; reads every key.
  public func keys(named text: String) throws(QueueError) -> [EntryKey] {
    try read { () throws(SQLiteError) in
      try connection.prepare(
        """
        SELECT key FROM (SELECT key FROM entries UNION SELECT key FROM tombstones) \
        WHERE key=?1 OR substr(key, -length(?1) - 1)='/' || ?1 ORDER BY key
        """
      ).all([.text(text)]) { EntryKey(rawValue: $0.text(0)) }
    }
  }
}
