import FaultInjection
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync

/// Opens an image as the production code does, with all its checks, and judges the result.
struct ImageJudge {
  let site: ImageSite
  let seed: UInt64

  /// `known`: states that were judged before. Their rows are not checked again.
  func verdict(on image: DiskImage, known: Set<LogicalState>) -> ImageVerdict {
    let disk = FaultDisk(image)
    FaultVFS.begin(on: disk, seed: seed)
    let later = ImageSite(disk: disk, after: site)
    do {
      // As production does, whatever discipline wrote the image.
      let file = try SyncFile(queue: site.queue(on: disk), newIdentity: { .simulated })
      defer { file.queue.connection.leaveUntouchedOnClose() }
      // A power cut is no damage.
      let isDamaged = image.names.keys.contains {
        $0.contains("-damage") || $0.contains("-salvage") || $0.contains(".damaged-")
      }
      if !isDamaged, let salvage = file.queue.salvage { return .broken("salvaged: \(salvage.what)") }
      if let problem = file.queue.vaultProblem { return .broken("the vault: \(problem)") }
      let state = try LogicalState(of: file)
      let pages = try file.queue.connection.prepare("PRAGMA integrity_check(5)").all { $0.text(0) }
      guard pages == ["ok"] else { return .broken("integrity: \(pages.joined(separator: "; "))") }
      // The file has to accept the next commit, too.
      try file.queue.setFact("image", "recovered")
      if !known.contains(state), let problem = try Self.problem(in: file, later.outside) {
        return .broken(problem)
      }
      return .recovered(state)
    } catch {
      return .broken("\(error)")
    }
  }

  // MARK: The other invariants

  /// The broken promise; nil for none. It delivers the queued entries, which changes the file.
  private static func problem(in file: SyncFile, _ outside: OutsideState) throws -> String? {
    let entries = try file.queue.allEntries()
    let vault = Set(try file.queue.protected(prefix: "entry.").map(\.name))
    for (key, _) in outside.paid.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      let isQueued = entries.contains { $0.key == key }
      let isSettled = try file.tombstone(key) != nil
      let isThere = isQueued || isSettled || vault.contains("entry." + key.rawValue)
      if !isThere, outside.finished.contains(key), !outside.granted.contains(key) {
        return "invariant 1: \(key) was paid, and is lost"
      }
      if outside.finished.contains(key), !isSettled {
        return "invariant 3: \(key) is finished, and its acknowledgement is gone"
      }
      if isSettled, !outside.granted.contains(key), !outside.discarded.contains(key) {
        return "invariant 11: \(key) is settled, and no verdict settled it"
      }
    }
    if let ghost = entries.first(where: { outside.paid[$0.key] == nil }) {
      return "invariant 10: \(ghost.key) was never paid"
    }
    return try orders(in: file, entries, outside) ?? delivery(of: entries, from: file, outside)
  }

  private static func orders(
    in file: SyncFile, _ entries: [Entry], _ outside: OutsideState
  ) throws -> String? {
    // The row of a request has its key behind a word.
    let requests = Set(outside.requests.map { "request:" + $0 })
    for (table, column, known) in [
      ("orders", "number", outside.orders.union(requests)),
      ("reservations", "name", outside.orders.union(outside.requests)),
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
    for (number, key) in bound where outside.paid[key] != .some(number) {
      return "invariant 9: order \(number) is bound to \(key)"
    }
    for entry in entries {
      guard let number = entry.orderNumber, outside.paid[entry.key] != .some(number) else { continue }
      return "invariant 9: \(entry.key) is bound to order \(number)"
    }
    return nil
  }

  /// The present backend and a file that may be old: the entries are sent again, and credited once.
  private static func delivery(
    of entries: [Entry], from file: SyncFile, _ outside: OutsideState
  ) throws -> String? {
    var ledger = ImageLedger(outside)
    for entry in entries.filter({ $0.state == .quarantined }) {
      guard try file.release(entry.key, nil, now: OutsideState.noon) else {
        return "no capacity to release"
      }
    }
    for entry in try file.queue.allEntries() where entry.state == .queued {
      // An entry without a proof is allowed: the engine takes the proof from the store.
      for proof in entry.payloads { _ = try file.queue.payload(proof) }
      guard try file.queue.entry(entry.key) != nil else { continue }
      let verdict = ledger.judge(entry.key, order: entry.orderNumber)
      _ = try file.acknowledge([SettledClaim(key: entry.key, verdict: verdict)], now: OutsideState.noon)
    }
    if let doubled = ledger.doubled { return "invariant 21: \(doubled)" }
    let left = try file.queue.allEntries().filter { $0.state != .damaged }
    return left.isEmpty ? nil : "\(left[0].key) cannot be delivered"
  }
}

/// The backend's ledger: it credits a transaction and an order once. It counts each credit without reading the file.
struct ImageLedger {
  private var credits: [EntryKey: Int] = [:]
  private var orders: [String: EntryKey] = [:]
  private(set) var doubled: String?

  init(_ outside: OutsideState) {
    for key in outside.granted {
      credits[key] = 1
      if let order = outside.paid[key] ?? nil { orders[order] = key }
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
