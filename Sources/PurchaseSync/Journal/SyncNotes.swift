import PurchaseQueue
import PurchaseSQLite

/// The engine's small state in the queue's file: named values, pending updates, adoptions.
struct SyncNotes {
  let file: QueueFile
  private let statements: NoteStatements

  init(file: QueueFile) {
    self.file = file
    statements = NoteStatements(file.connection)
  }

  // MARK: Facts

  /// A named value; nil if there is none, or if its text cannot be decoded. Its owner then starts afresh.
  func fact<Value: Decodable>(_ name: String, as: Value.Type) throws(QueueError) -> Value? {
    try file.fact(name).flatMap { Value(json: $0.utf8) }
  }

  /// Stores the value and returns the stored text.
  @discardableResult
  func setFact(_ name: String, _ value: some Encodable) throws(QueueError) -> String {
    let text = try value.jsonText(of: name)
    try file.setFact(name, text)
    return text
  }

  // MARK: Pending updates

  struct PendingUpdate {
    var place: Int64
    var key: EntryKey
    /// The newer details; nil if everything is sent again.
    var details: String?
  }

  /// Without details, everything is sent again; newer details that are already pending stay.
  func oweUpdate(_ key: EntryKey, details: String?) throws(QueueError) {
    try wrap { () throws(SQLiteError) in
      try statements.oweUpdate.run([.text(key.rawValue), details.map { .text($0) } ?? .null])
    }
  }

  /// Makes an update pending for everything that was settled by a verdict, in the order of settlement.
  func oweEverything() throws(QueueError) {
    try wrap { () throws(SQLiteError) in
      try file.connection.execute(
        """
        INSERT OR IGNORE INTO pending_updates(key)
        SELECT key FROM tombstones WHERE outcome<>'discarded' ORDER BY settled_at, key
        """)
    }
  }

  func pendingUpdates(limit: Int) throws(QueueError) -> [PendingUpdate] {
    try wrap { () throws(SQLiteError) in
      try statements.pendingUpdates.all([.integer(Int64(limit))]) {
        PendingUpdate(place: $0.integer(0), key: EntryKey(rawValue: $0.text(1)), details: $0.optionalText(2))
      }
    }
  }

  func endPendingUpdate(_ place: Int64) throws(QueueError) {
    try wrap { () throws(SQLiteError) in
      try statements.endPendingUpdate.run([.integer(place)])
    }
  }

  // MARK: Adoptions

  func deviceAdoptions() throws(QueueError) -> [DeviceAdoption] {
    try wrap { () throws(SQLiteError) in
      try statements.adoptions.all {
        DeviceAdoption(account: $0.text(0), throughPlace: $0.integer(1))
      }
    }
  }

  func keep(_ adoption: DeviceAdoption) throws(QueueError) {
    try wrap { () throws(SQLiteError) in
      try statements.keepAdoption.run([
        .text(adoption.account), .integer(adoption.throughPlace),
      ])
    }
  }

  func endAdoption(of account: String, throughPlace place: Int64) throws(QueueError) {
    try wrap { () throws(SQLiteError) in
      try statements.endAdoption.run([.text(account), .integer(place)])
    }
  }

  func deviceLaneHolds(throughPlace place: Int64) throws(QueueError) -> Bool {
    let found = try wrap { () throws(SQLiteError) in
      try statements.heldInLane.first([
        .text(Lane.device.rawValue), .integer(place),
      ]) { $0.integer(0) }
    }
    return found != nil
  }

  private func wrap<R>(_ body: () throws(SQLiteError) -> R) throws(QueueError) -> R {
    try file.read(body)
  }
}
