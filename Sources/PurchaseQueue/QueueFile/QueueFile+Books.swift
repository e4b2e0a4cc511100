import PurchaseSQLite

/// The books: what came in, what is there, and what left.
extension QueueFile {
  /// The books at this moment. Reads two rows in one statement, because another process may commit between two.
  package func books() throws(QueueError) -> QueueBooks {
    let name = StoredBooks.fact
    let found = try read { () throws(SQLiteError) in
      let (totals, number) = (CapacityStatements.columns, CapacityStatements.columnCount)
      return try connection.prepare(
        """
        SELECT \(totals), (SELECT value FROM facts WHERE name=?1), \
        (SELECT facts.checksum FROM facts WHERE name=?1) FROM totals
        """
      ).first([.text(name)]) { row in
        (totals: Totals(row), text: row.optionalText(number), checksum: row.optionalInteger(number + 1))
      }
    }
    if let found, let totals = found.totals {
      guard let text = found.text else { return StoredBooks().books(with: totals) }
      if found.checksum == RowHash.of(name, text), let stored = StoredBooks(text) {
        return stored.books(with: totals)
      }
    }
    // One of the rows is damaged.
    return try transaction { () throws(QueueError) in
      let totals = try self.totals()
      return try self.storedBooks(totals).books(with: totals)
    }
  }

  /// A row that is damaged begins at zero, at once: what it counted is not known any more. A file without the row is
  /// new, or nothing rare has happened in it.
  private func storedBooks(_ totals: Totals) throws(QueueError) -> StoredBooks {
    let text = try fact(StoredBooks.fact)
    if let text, let books = StoredBooks(text) { return books }
    let isThere = try read { () throws(SQLiteError) in
      try connection.prepare("SELECT 1 FROM facts WHERE name=?").first([.text(StoredBooks.fact)]) { _ in true
      }
    }
    guard isThere == true else { return StoredBooks() }
    let books = StoredBooks.restarted(at: totals)
    try setFact(StoredBooks.fact, books.text)
    return books
  }

  /// Counts a rare end, in the transaction that makes it.
  func changeBooks(_ change: (inout StoredBooks) -> Void) throws(QueueError) {
    let old = try storedBooks(try totals())
    var books = old
    change(&books)
    if books != old { try setFact(StoredBooks.fact, books.text) }
  }

  /// The rows were counted again. `before` is nil if the totals were damaged.
  func keepBooks(from before: Totals?, to after: Totals, isReplacing: Bool) throws(QueueError) {
    let old = try fact(StoredBooks.fact).flatMap { StoredBooks($0) }
    var books = old ?? StoredBooks()
    if let before {
      books.recounted(from: before, to: after, isReplacing: isReplacing)
    } else {
      books = .restarted(at: after, after: books.restarts)
    }
    if books != old ?? StoredBooks() { try setFact(StoredBooks.fact, books.text) }
  }

  // MARK: Reporting

  /// Notes a change that the open transaction makes. It is reported once that is committed.
  func note(_ change: QueueChange) {
    if setup.changes != nil { uncommitted.append(change) }
  }

  /// The transaction is committed.
  func reportChanges() {
    guard let report = setup.changes, !uncommitted.isEmpty else { return }
    for change in uncommitted { report(change) }
    uncommitted.removeAll(keepingCapacity: true)
  }
}
