import PurchaseSQLite

extension QueueFile {
  /// Which entry or settled one has this order, if any; reads every tombstone.
  package func holder(ofOrder number: String) throws(QueueError) -> EntryKey? {
    try read { () throws(SQLiteError) in
      try statements.entries.ofOrder.first([.text(number)]) { EntryKey(rawValue: $0.text(0)) }
    }
  }

  /// What is known of one entry, queued or settled. Nil if nothing is.
  public func caseFile(for key: EntryKey) throws(QueueError) -> CaseFile? {
    if let entry = try entry(key) { return CaseFile(entry) }
    return try tombstone(key).map(CaseFile.init)
  }

  /// What is known of the entries of one order, queued or settled.
  public func caseFiles(order number: String) throws(QueueError) -> [CaseFile] {
    let (live, settled) = try read { () throws(SQLiteError) in
      (
        try connection.prepare("SELECT key FROM entries WHERE order_number=? ORDER BY place")
          .all([.text(number)]) { EntryKey(rawValue: $0.text(0)) },
        try connection.prepare("SELECT key FROM tombstones WHERE order_number=? ORDER BY settled_at, key")
          .all([.text(number)]) { EntryKey(rawValue: $0.text(0)) }
      )
    }
    var files: [CaseFile] = []
    for key in live + settled {
      if let file = try caseFile(for: key) { files.append(file) }
    }
    return files
  }
}
