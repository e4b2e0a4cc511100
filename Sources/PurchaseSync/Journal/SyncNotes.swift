import Foundation
import PurchaseQueue
import PurchaseSQLite

/// The engine's small state in the queue's file: failures of entries, pending updates, adoptions.
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
    try file.fact(name).flatMap { decoded($0, as: Value.self) }
  }

  /// The decoded text of a fact; nil if the text cannot be decoded.
  func decoded<Value: Decodable>(_ text: String, as: Value.Type) -> Value? {
    do {
      return try JSONDecoder().decode(Value.self, from: Data(text.utf8))
    } catch {
      return nil
    }
  }

  /// Stores the value and returns the stored text.
  @discardableResult
  func setFact(_ name: String, _ value: some Encodable) throws(QueueError) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    let text: String
    do {
      text = String(decoding: try encoder.encode(value), as: UTF8.self)
    } catch {
      throw .invalid(what: "\(name) cannot be written as JSON")
    }
    try file.setFact(name, text)
    return text
  }

  // MARK: Watches

  func watch(of key: EntryKey) throws(QueueError) -> PoisonWatch {
    let found = try wrap { () throws(SQLiteError) in
      try statements.watch.first([.text(key.rawValue)]) {
        PoisonWatch(
          failedRounds: Int($0.integer(0)),
          failingSince: $0.optionalInteger(1).map(Timestamp.init(milliseconds:)),
          unknownAnswers: Int($0.integer(2)), claimsPerUpload: Int($0.integer(3)))
      }
    }
    return found ?? PoisonWatch()
  }

  func keep(_ watch: PoisonWatch, of key: EntryKey) throws(QueueError) {
    guard watch != PoisonWatch() else { return try forget(key) }
    try wrap { () throws(SQLiteError) in
      try statements.keepWatch.run([
        .text(key.rawValue), .integer(Int64(watch.failedRounds)),
        .integer(watch.failingSince?.milliseconds), .integer(Int64(watch.unknownAnswers)),
        .integer(Int64(watch.claimsPerUpload)),
      ])
    }
  }

  private func forget(_ key: EntryKey) throws(QueueError) {
    try wrap { () throws(SQLiteError) in
      try statements.forgetWatch.run([.text(key.rawValue)])
    }
  }

  /// The entry is settled.
  func end(_ key: EntryKey) throws(QueueError) {
    try forget(key)
    try wrap { () throws(SQLiteError) in
      try statements.forgetWait.run([.text(key.rawValue)])
    }
  }

  // MARK: Waits

  /// The wait that was stored last for an entry; nil if there is none, or if it cannot be read.
  func wait(of key: EntryKey) throws(QueueError) -> Wait? {
    let found = try wrap { () throws(SQLiteError) in
      try statements.wait.first([.text(key.rawValue)]) { row in
        Wait.Cause(rawValue: row.text(0)).map {
          Wait(
            $0, began: Timestamp(milliseconds: row.integer(1)), milliseconds: row.integer(2),
            asked: row.integer(3))
        }
      }
    }
    return found ?? nil
  }

  func keep(_ wait: Wait, of key: EntryKey) throws(QueueError) {
    try wrap { () throws(SQLiteError) in
      try statements.keepWait.run([
        .text(key.rawValue), .text(wait.cause.rawValue), .integer(wait.began.milliseconds),
        .integer(wait.milliseconds), .integer(wait.asked),
      ])
    }
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
