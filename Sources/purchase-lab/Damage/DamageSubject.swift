import FaultInjection
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync

/// A queue with something in every table, as a launch finds it: closed, or killed with commits in its log.
struct DamageSubject {
  enum State: String, Sendable, CaseIterable { case closed, killed }

  /// An entry with the bytes of its payloads.
  struct Known: Hashable {
    var entry: Entry
    var payloads: [[UInt8]?]
  }

  let state: State
  let image: DiskImage
  let file: [UInt8]
  let log: [UInt8]
  let note: [UInt8]
  let known: [EntryKey: Known]
  let bytes: [String: EntryBytes]
  let tombstones: Set<EntryKey>
  let schema: Set<String>

  static let path = ImageSite.path

  init(_ state: State, seed: UInt64) throws {
    let site = ImageSite(disk: FaultDisk(), discipline: .production)
    site.hasVault = false
    FaultVFS.begin(on: site.disk, seed: seed)
    var kinds: [ImageKind] = [
      .order, .order, .order, .order, .enqueue, .enqueue, .settle, .enqueue, .quarantine, .enqueue, .enqueue,
      .attempt, .order, .settle, .claim, .enqueue, .enqueue,
    ]
    if state == .killed { kinds += [.checkpoint, .enqueue, .settle, .postpone] }
    for kind in kinds { try site.run(kind) }
    // A page that is lost in the last two commits looks like a power cut, so these commits hold nothing else.
    for number in 1...2 { try site.opened().queue.setFact("last", "commit \(number)") }
    known = try Self.known(in: site.opened().queue)
    tombstones = Set(try site.opened().queue.newestTombstones(100).map(\.key))
    schema = try Self.schema(of: site.opened().queue)
    if state == .closed { site.close() }
    image = site.disk.image.withoutUnnamedFiles
    if state == .killed {
      try site.opened().queue.connection.leaveUntouchedOnClose()
      site.close()
    }
    self.state = state
    file = image[Self.path]?.bytes ?? []
    log = Self.withoutZeros(image[Self.path + DamageCase.Part.log.suffix]?.bytes ?? [])
    note = image[Self.path + DamageCase.Part.note.suffix]?.bytes ?? []
    bytes = EntryBytes.all(file: file, log: log)
  }

  /// The zeros that are written ahead hold nothing.
  private static func withoutZeros(_ log: [UInt8]) -> [UInt8] {
    let end = (log.lastIndex { $0 != 0 } ?? -1) + 1
    let frames = (max(0, end - 32) + 1047) / 1048
    return Array(log.prefix(end == 0 ? 0 : 32 + frames * 1048))
  }

  static func known(in queue: QueueFile) throws -> [EntryKey: Known] {
    var known: [EntryKey: Known] = [:]
    for entry in try queue.allEntries() {
      // A damaged key may be that of another entry.
      guard known[entry.key]?.entry.state ?? .damaged == .damaged else { continue }
      let payloads = try entry.payloads.map { try queue.payload($0)?.bytes }
      // Reading a damaged payload changes the entry.
      known[entry.key] = Known(entry: try queue.entry(entry.key) ?? entry, payloads: payloads)
    }
    return known
  }

  static func schema(of queue: QueueFile) throws -> Set<String> {
    Set(
      try queue.connection.prepare("SELECT type, name, tbl_name, ifnull(sql, '') FROM sqlite_schema").all {
        "\($0.text(0)) \($0.text(1)) \($0.text(2)) \($0.text(3))"
      })
  }

  func bytes(of part: DamageCase.Part) -> [UInt8] {
    switch part {
    case .file: file
    case .log: log
    case .note: note
    }
  }

  /// The disk with a damaged file.
  func disk(_ damage: DamageCase) -> DiskImage {
    var damaged = image
    if let number = damaged.names[Self.path + damage.part.suffix] {
      damaged.files[number] = FileContent(damage.apply(to: bytes(of: damage.part)))
    }
    return damaged
  }

  var cases: DamageCases { DamageCases(self) }
}
