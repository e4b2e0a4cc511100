import PurchaseQueue

/// The content of a whole queue for `inspect`; as JSON, one document.
struct InspectReport: Encodable {
  /// An entry's case file and its place.
  struct InspectedEntry: Encodable {
    var place: Int64
    var file: CaseFile

    private enum Keys: String, CodingKey { case place }

    func encode(to encoder: any Encoder) throws {
      try file.encode(to: encoder)
      var container = encoder.container(keyedBy: Keys.self)
      try container.encode(place, forKey: .place)
    }
  }

  struct InspectedLane: Encodable {
    var lane: String
    /// Entries that wait for their turn.
    var queued: Int
    var oldestEnqueuedAt: Timestamp?
  }

  struct Tombstones: Encodable {
    var count: Int
    /// The last ten, newest first.
    var newest: [CaseFile]
    /// All that still have to be finished, or whose outcome is unconfirmed; oldest first.
    var withDuties: [CaseFile]
  }

  struct Check: Encodable {
    var isClean: Bool
    /// Places of entries.
    var entries: [Int64]
    /// How many payloads.
    var payloads: Int
    var tombstones: [EntryKey]
    var pages: [String]
  }

  struct Salvage: Encodable {
    var what: String
    var entries: Int
    var tombstones: Int
    /// What cannot be saved, a line each.
    var losses: [String]
  }

  var file: String
  var health: QueueHealth
  var entries: [InspectedEntry]
  var lanes: [InspectedLane]
  var tombstones: Tombstones
  var check: Check
  /// The damage that the next opening will salvage; nil for none.
  var salvage: Salvage?

  init(_ snapshot: QueueSnapshot) throws(QueueError) {
    file = snapshot.path
    health = try snapshot.health()
    (entries, tombstones) = try snapshot.inCopy { (queue) throws(QueueError) in
      (try Self.entries(queue), try Self.tombstones(queue))
    }
    lanes = Self.lanes(entries)
    let found = snapshot.check
    check = Check(
      isClean: found.isClean, entries: found.entries, payloads: found.payloads.count,
      tombstones: found.tombstones, pages: found.pages)
    salvage = snapshot.salvage.map {
      Salvage(what: $0.what, entries: $0.entries, tombstones: $0.tombstones, losses: $0.losses)
    }
  }

  private static func entries(_ queue: QueueFile) throws(QueueError) -> [InspectedEntry] {
    var entries: [InspectedEntry] = []
    for entry in try queue.allEntries() {
      guard let file = try queue.caseFile(for: entry.key) else { continue }
      entries.append(InspectedEntry(place: entry.place, file: file))
    }
    return entries
  }

  private static func tombstones(_ queue: QueueFile) throws(QueueError) -> Tombstones {
    func files(_ tombstones: [Tombstone]) throws(QueueError) -> [CaseFile] {
      var files: [CaseFile] = []
      for tombstone in tombstones {
        if let file = try queue.caseFile(for: tombstone.key) { files.append(file) }
      }
      return files
    }
    let count = try queue.health().tombstones
    return Tombstones(
      count: count, newest: try files(queue.newestTombstones(10)),
      withDuties: try files(queue.tombstonesWithDuties()))
  }

  /// In the order of their first entries.
  private static func lanes(_ entries: [InspectedEntry]) -> [InspectedLane] {
    var lanes: [InspectedLane] = []
    for file in entries.map(\.file) where file.state == "queued" {
      if let index = lanes.firstIndex(where: { $0.lane == file.lane }) {
        lanes[index].queued += 1
        lanes[index].oldestEnqueuedAt = lanes[index].oldestEnqueuedAt.map { min($0, file.enqueuedAt) }
      } else {
        lanes.append(InspectedLane(lane: file.lane, queued: 1, oldestEnqueuedAt: file.enqueuedAt))
      }
    }
    return lanes
  }
}
