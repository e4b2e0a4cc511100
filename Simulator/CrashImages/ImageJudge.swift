import FaultInjection
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync

/// Opens an image as the production code does, with all its looking, and says what it finds.
struct ImageJudge {
  let site: ImageSite
  let seed: UInt64

  /// One that is judged already, by what it says: then its rows are not looked at again.
  func verdict(on image: DiskImage, known: Set<LogicalState>) -> ImageVerdict {
    let disk = FaultDisk(image)
    FaultVFS.begin(on: disk, seed: seed)
    let later = ImageSite(disk: disk, after: site)
    do {
      // As production does, whatever discipline wrote the image.
      let file = try SyncFile(
        queue: QueueFile(path: ImageSite.path, vault: site.vault(on: disk), now: site.now))
      defer { file.queue.connection.leaveUntouchedOnClose() }
      if let problem = file.queue.vaultProblem { return .broken("the vault: \(problem)") }
      let state = try LogicalState(of: file)
      let pages = try file.queue.connection.prepare("PRAGMA integrity_check(5)").all { $0.text(0) }
      guard pages == ["ok"] else { return .broken("integrity: \(pages.joined(separator: "; "))") }
      // Not only to be read: it has to take the next commit.
      try file.queue.setFact("image", "recovered")
      if !known.contains(state), let problem = try Self.problem(in: file, later.world) {
        return .broken(problem)
      }
      return .recovered(state)
    } catch {
      return .broken("\(error)")
    }
  }

  // MARK: The other invariants

  /// What cannot be, or nil. Delivers what is queued, so that nothing of the file is as it was.
  private static func problem(in file: SyncFile, _ world: ImageWorld) throws -> String? {
    let entries = try file.queue.allEntries()
    let vault = Set(try file.queue.protected(prefix: "entry.").map(\.name))
    for (key, _) in world.paid.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      let isQueued = entries.contains { $0.key == key }
      let isSettled = try file.tombstone(key) != nil
      let isThere = isQueued || isSettled || vault.contains("entry." + key.rawValue)
      if !isThere, world.finished.contains(key), !world.granted.contains(key) {
        return "invariant 1: \(key) was paid, and nobody has it any more"
      }
      if world.finished.contains(key), !isSettled {
        return "invariant 3: \(key) is finished, and its acknowledgement is gone"
      }
      if isSettled, !world.granted.contains(key), !world.discarded.contains(key) {
        return "invariant 11: \(key) is settled, and nobody settled it"
      }
    }
    if let ghost = entries.first(where: { world.paid[$0.key] == nil }) {
      return "invariant 10: \(ghost.key) was never paid"
    }
    return try orders(in: file, entries, world) ?? delivery(of: entries, from: file, world)
  }

  private static func orders(
    in file: SyncFile, _ entries: [Entry], _ world: ImageWorld
  ) throws -> String? {
    for (table, column, known) in [
      ("orders", "number", world.orders), ("order_requests", "idempotency_key", world.requests),
      ("reservations", "name", world.orders.union(world.requests)),
    ] {
      let names = try file.queue.connection.prepare("SELECT \(column) FROM \"\(table)\"").all { $0.text(0) }
      if let ghost = names.first(where: { !known.contains($0) }) {
        return "invariant 10: \(ghost) in \(table) was never asked for"
      }
    }
    let bound = try file.queue.connection.prepare(
      "SELECT number, bound_to FROM orders WHERE bound_to IS NOT NULL"
    ).all {
      ($0.text(0), EntryKey(rawValue: $0.text(1)))
    }
    for (number, key) in bound where world.paid[key] != .some(number) {
      return "invariant 9: order \(number) is bound to \(key)"
    }
    for entry in entries {
      guard let number = entry.orderNumber, world.paid[entry.key] != .some(number) else { continue }
      return "invariant 9: \(entry.key) is bound to order \(number)"
    }
    return nil
  }

  /// The present backend, and a file that may be an old one: what is in it is sent again, and credited once.
  private static func delivery(
    of entries: [Entry], from file: SyncFile, _ world: ImageWorld
  ) throws -> String? {
    var ledger = ImageLedger(world)
    for entry in entries.filter({ $0.state == .quarantined }) {
      guard try file.release(entry.key, until: nil, now: ImageWorld.noon) else { return "no room to release" }
    }
    for entry in try file.queue.allEntries() where entry.state == .queued {
      // No proof is fine: the entry goes up with what the store has of it.
      for proof in entry.proofs { _ = try file.queue.proof(proof) }
      guard try file.queue.entry(entry.key) != nil else { continue }
      let verdict = ledger.judge(entry.key, order: entry.orderNumber)
      _ = try file.acknowledge([SettledClaim(key: entry.key, verdict: verdict)], now: ImageWorld.noon)
    }
    if let doubled = ledger.doubled { return "invariant 21: \(doubled)" }
    let left = try file.queue.allEntries().filter { $0.state != .damaged }
    return left.isEmpty ? nil : "\(left[0].key) cannot be delivered"
  }
}

/// The backend's ledger: it credits a transaction once, whoever sends it again, and an order once. Credits are counted
/// as they are given, without a look at what is there.
struct ImageLedger {
  private var credits: [EntryKey: Int] = [:]
  private var orders: [String: EntryKey] = [:]
  private(set) var doubled: String?

  init(_ world: ImageWorld) {
    for key in world.granted {
      credits[key] = 1
      if let order = world.paid[key] ?? nil { orders[order] = key }
    }
  }

  mutating func judge(_ key: EntryKey, order: String?) -> Verdict {
    if let order, let other = orders[order], other != key {
      doubled = "order \(order) would be fulfilled by \(other) and by \(key)"
    }
    if credits[key] != nil { return .duplicate }
    credits[key] = 1
    if let order { orders[order] = key }
    return .granted
  }
}
