import Bench
import FaultInjection
import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync

/// The verdict about one case of damage.
struct DamageVerdict {
  /// What is wrong; nil for nothing.
  var problem: String?
  var milliseconds = 0.0
  /// Entries whose bytes the damage does not touch, and how many of them are as they were.
  var untouched = 0
  var kept = 0
  /// Something is gone or different, and nothing reported it.
  var isSilentLoss = false
  var isSalvaged = false
}

/// Opens a damaged queue as an app does, works with it, and compares it with what was in it.
struct DamageJudge {
  let subject: DamageSubject
  let seed: UInt64

  private static let now = OutsideState.noon.adding(milliseconds: 3_600_000)

  /// What a launch came to.
  private struct Life {
    var opening = 0.0
    var isTold = false
    var salvages: [SalvageReport] = []
    var known: [EntryKey: DamageSubject.Known] = [:]
    /// The keys that count as settled.
    var tombstones: Set<EntryKey> = []
    var problem: String?
  }

  func verdict(on damage: DamageCase) -> DamageVerdict {
    let disk = FaultDisk(subject.disk(damage))
    FaultVFS.begin(on: disk, seed: seed)
    var verdict = DamageVerdict()
    var life = launch(1)
    verdict.milliseconds = life.opening
    verdict.isSalvaged = !life.salvages.isEmpty
    compare(life, damage, &verdict)
    if verdict.problem == nil, life.opening > 2_000 {
      verdict.problem = "an opening took \(Int(life.opening)) ms"
    }
    for salvage in life.salvages where verdict.problem == nil {
      if disk.image.names[salvage.archived] == nil { verdict.problem = "the damaged file was not archived" }
    }
    guard verdict.problem == nil else { return verdict }
    life = launch(2)
    if let problem = life.problem {
      verdict.problem = "at the second launch: \(problem)"
    } else if !life.salvages.isEmpty {
      verdict.problem = "at the second launch: salvaged again: \(life.salvages[0].what)"
    }
    return verdict
  }

  // MARK: A launch

  /// As an app: opens again what asks for it. Works first, and checks afterwards: the check runs in the background.
  private func launch(_ number: Int) -> Life {
    var life = Life()
    for attempt in 1...4 {
      do {
        try run(&life, EntryKey(rawValue: "after the damage, \(number).\(attempt)"))
        return life
      } catch let error as QueueError where error.asksForReopening {
        life.isTold = true
        life.problem = "opened four times: \(error)"
      } catch {
        life.problem = "\(error)"
        return life
      }
    }
    return life
  }

  private func run(_ life: inout Life, _ new: EntryKey) throws {
    // Of the processor: other processes of the machine must not make an opening look slow.
    let begin = ProcessorTime.now
    let setup = QueueSetup(path: DamageSubject.path, disk: .inMemory, schemas: JournalSchema.schemas)
    // Everything up to an error counts as the opening.
    defer { note(begin, &life) }
    let queue = try QueueFile(setup, now: Self.now)
    note(begin, &life)
    if let salvage = queue.salvage {
      life.isTold = true
      life.salvages.append(salvage)
    }
    let file = try SyncFile(queue: queue, newIdentity: { .simulated })
    try work(queue, new)
    let check = try QueueCheck.run(path: DamageSubject.path, on: .inMemory)
    if !check.isClean {
      life.isTold = true
      try queue.isolate(check)
      if !check.pages.isEmpty { throw QueueError.damaged(path: DamageSubject.path, what: check.pages[0]) }
    }
    life.known = try DamageSubject.known(in: queue)
    life.tombstones = Set(try queue.newestTombstones(100).map(\.key))
    guard try DamageSubject.schema(of: queue).isSubset(of: subject.schema) else {
      throw QueueError.storage(path: DamageSubject.path, reason: "the schema has text that is not ours")
    }
    _ = try (queue.health(), file.tombstonesWithDuties())
    life.problem = nil
  }

  private func note(_ begin: Double, _ life: inout Life) {
    life.opening = max(life.opening, ProcessorTime.now - begin)
  }

  /// A purchase from beginning to end, and everything that writes to a table.
  private func work(_ queue: QueueFile, _ new: EntryKey) throws {
    let payload = Payload(kind: "payload", bytes: (0..<2_500).map { UInt8(truncatingIfNeeded: $0 * 7) })
    _ = try queue.enqueue(NewEntry(key: new, lane: .device, payloads: [payload]), now: Self.now)
    _ = try queue.nextReady(now: Self.now)
    try queue.recordAttempt([new], now: Self.now)
    try queue.postpone(new, until: Self.now, now: Self.now)
    try queue.reserve("room", until: Self.now.adding(milliseconds: 1_000), now: Self.now)
    try queue.cancelReservation("room")
    guard let entry = try queue.entry(new), try queue.payload(entry.payloads[0]) == payload else {
      throw QueueError.storage(path: DamageSubject.path, reason: "the new entry is not there")
    }
    try queue.acknowledge([Settlement(key: new)], now: Self.now)
  }

  // MARK: Comparing

  private func compare(_ life: Life, _ damage: DamageCase, _ verdict: inout DamageVerdict) {
    verdict.problem = life.problem
    guard life.problem == nil else { return }
    let touched = damage.touched(of: subject.bytes(of: damage.part).count)
    // A log that ends early is the log of an earlier moment: no power cut differs from it.
    var isEarlier = false
    if damage.part == .log, case .cut = damage.harm { isEarlier = true }
    // Without the frames of the last two commits, nothing shows that an earlier commit was durable.
    if damage.part == .log, damage.isOfWholePages,
      touched.contains(where: { $0.upperBound > subject.log.count - 2 * 1048 })
    {
      isEarlier = true
    }
    // An empty file is no file.
    if damage.part == .file, damage.harm == .cut(0) { isEarlier = true }
    var hasLoss = false
    for (key, known) in subject.known {
      let isTouched =
        subject.bytes[key.rawValue]?.isTouched(
          file: damage.part == .file ? touched : [], log: damage.part == .log ? touched : []) ?? true
      let now = life.known[key]
      let isSame = now == known
      // A damaged entry and a payload by reference say so themselves.
      let isMarked =
        now.map { $0.entry.state == .damaged || $0.entry.payloads.contains(where: \.isByReference) } ?? false
      if !isSame, !isMarked { hasLoss = true }
      if !isEarlier, verdict.problem == nil { verdict.problem = wrong(key, known, now, life) }
      guard !isTouched, !isEarlier else { continue }
      verdict.untouched += 1
      if isSame {
        verdict.kept += 1
      } else {
        let found = life.known[key].map {
          "\($0.entry.state), attempts \($0.entry.attempts), payloads \($0.payloads.map { $0?.count ?? -1 })"
        }
        verdict.problem = verdict.problem ?? "\(key) is not touched, and now: \(found ?? "gone")"
      }
    }
    let ghost = life.known.keys.first {
      subject.known[$0] == nil && !isDamaged($0, life) && !$0.rawValue.hasPrefix("after")
    }
    if let ghost {
      hasLoss = true
      if !isEarlier { verdict.problem = verdict.problem ?? "\(ghost) was not in the queue" }
    }
    if hasLoss, !life.isTold, !isEarlier {
      verdict.isSilentLoss = true
      verdict.problem = verdict.problem ?? "a loss was not told"
    }
  }

  /// What no entry may be after any damage, touched or not; nil for nothing. A payload is whole, or it is not sent; and an
  /// entry leaves the queue only by being settled (invariant 11).
  private func wrong(
    _ key: EntryKey, _ known: DamageSubject.Known, _ now: DamageSubject.Known?, _ life: Life
  ) -> String? {
    guard let now else {
      return life.tombstones.contains(key) ? "\(key) counts as settled, and was not" : nil
    }
    // A damaged entry is not sent.
    guard now.entry.state != .damaged else { return nil }
    let isWhole = now.payloads.allSatisfy { $0 == nil || known.payloads.contains($0) }
    return isWhole ? nil : "a payload of \(key) is not whole, and would be sent"
  }

  private func isDamaged(_ key: EntryKey, _ life: Life) -> Bool {
    // A damaged key, or a settled entry that is sent again because its tombstone is lost.
    life.known[key]?.entry.state == .damaged || (life.isTold && subject.tombstones.contains(key))
  }
}
