import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync
import Specification

/// Checks the invariants at every effect and after every commit.
extension EngineSimulation {
  // MARK: The file

  /// Reads the file if something was committed, and checks the changes.
  func look() {
    guard let watch else { return }
    let old = watch.content
    do throws(SQLiteError) {
      guard try watch.look() else { return }
      try checkHandedOut(watch, on: 0)
    } catch {
      return checker.broken(.prefix, "what was committed cannot be read: \(error)")
    }
    watchCommits(of: 0, watch.content)
    compare(old, watch.content)
  }

  private func compare(_ old: FileWatch.Content, _ new: FileWatch.Content) {
    for key in new.rows.keys.sorted() {
      guard let row = new.rows[key] else { continue }
      let sale = Names.transaction(EntryKey(rawValue: key))
      checker.expect(
        .noGhosts, store.sales.indices.contains(sale), "an entry that no purchase made: \(key)")
      guard store.sales.indices.contains(sale) else { return }
      if old.rows[key] == nil { noteArrival(of: key) }
      check(key, sale, row, was: old.rows[key], old.stones[key] ?? new.stones[key])
    }
    for key in old.rows.keys.sorted() where new.rows[key] == nil {
      if let row = old.rows[key], old.stones[key] == nil { checkDeadline(of: key, row) }
      left(key, Names.transaction(EntryKey(rawValue: key)), new.stones[key])
    }
    for key in old.stones.keys.sorted() {
      let sale = Names.transaction(EntryKey(rawValue: key))
      guard let stone = new.stones[key] else {
        checker.broken(.finished, "the tombstone of \(key) is gone")
        continue
      }
      guard old.stones[key]?.isUnconfirmed == true, !stone.isUnconfirmed else { continue }
      checker.expect(.finished, confirmed.contains(sale), "\(key) counts as seen, and no app confirmed it")
    }
    let queued = new.rows.values.count(where: \.isQueued)
    checker.expect(
      .limit, queued <= knobs.entries, "\(queued) queued, of \(knobs.entries)")
    checkOrders(new)
  }

  /// An order is handed out again after an hour, from commit to commit: a process that stalls gets it later, and its sheet
  /// is not open by then.
  func checkHandedOut(_ watch: FileWatch, on device: Int) throws(SQLiteError) {
    let known = momentsHandedOut[device, default: [:]]
    let moments = try watch.momentsHandedOut()
    for (number, moment) in moments.sorted(by: { $0.key < $1.key }) {
      guard let before = known[number], before != moment else { continue }
      checker.expect(
        .binding, moment - before >= 3_600_000,
        "order \(number) was handed out again after \(moment - before) ms")
    }
    momentsHandedOut[device] = moments
  }

  private func check(
    _ key: String, _ sale: Int, _ row: FileWatch.Row, was old: FileWatch.Row?, _ stone: FileWatch.Stone?
  ) {
    guard let old, old.place == row.place || stone == nil else { return sends[sale] = 0 }
    checker.expect(
      .collapse, old.place == row.place, "\(key) moved from place \(old.place) to \(row.place)")
    checker.expect(
      .attempts, row.attempts >= old.attempts, "\(key) has \(row.attempts) attempts, it had \(old.attempts)")
    checker.expect(
      .binding, old.order == nil || old.order == row.order, "\(key) has another order than before")
  }

  /// An order has one transaction. A transaction with a token has its own order.
  private func checkOrders(_ content: FileWatch.Content) {
    var keys: [String: String] = [:]
    for (key, number) in content.rows.map({ ($0.key, $0.value.order) })
      + content.stones.map({ ($0.key, $0.value.order) })
    {
      guard let number else { continue }
      let sale = Names.transaction(EntryKey(rawValue: key))
      checker.expect(
        .binding, keys[number] == nil || keys[number] == key, "order \(number) has two transactions")
      keys[number] = key
      guard store.sales.indices.contains(sale) else { continue }
      if store.sales[sale].isSeat {
        checker.broken(.seatIsMembers, "\(key) is a seat, and has order \(number)")
      }
      guard store.sales[sale].order >= 0 else { continue }
      checker.expect(
        .binding, slot(of: number) == store.sales[sale].order, "\(key) has the order of another purchase")
    }
  }

  private func left(_ key: String, _ sale: Int, _ stone: FileWatch.Stone?) {
    guard let stone else { return checker.broken(.leavesSettled, "\(key) left without a tombstone") }
    let verdict = Tombstone.verdict(in: stone.outcome)
    let isGiven = given[sale].contains(verdict.rawValue) && verdict.isSettled
    checker.expect(
      .leavesSettled, isGiven || stone.outcome == "discarded" && discarded.contains(sale),
      "\(key) left as \(stone.outcome), which no reply said")
    if verdict == .refunded {
      checker.expect(.refunds, store.sales[sale].wasRefunded, "\(key) left as refunded, and was not")
    }
    checkKept(sale, "left the queue")
  }

  /// A paid transaction has left one of the places that kept it.
  func checkKept(_ sale: Int, _ how: String) {
    let key = Names.key(sale).rawValue
    let isKept =
      store.sales[sale].isListed || isOnRecord[sale] || discarded.contains(sale)
      || watch?.content.rows[key] != nil
    checker.expect(
      .conservation, isKept, "\(key) \(how), and is lost: paid, and not settled on record")
  }

  // MARK: Calls

  /// An engine makes a call.
  func checkCalls(_ process: EngineProcess, _ what: @autoclosure () -> String) {
    checker.expect(.nothingAfterShutdown, !process.hasEnded, "\(process.name) has ended, and \(what())")
    strike()
  }

  /// An engine is about to send a lane.
  func decided(_ process: EngineProcess) {
    if process.isSuspended { checker.broken(.suspensionHolds, "\(process.name) sends in the background") }
    guard process.floor > 0 else { return }
    checker.expect(
      .retryAfter, queue.now >= process.floor,
      "\(process.name) sends \(process.floor - queue.now) ms too early")
  }

  func checkUpload(_ request: BackendRequest, _ process: EngineProcess) {
    uploads += 1
    look()
    if process.isSuspended { checker.broken(.suspensionHolds, "\(process.name) sends in the background") }
    do {
      let upload = try JSONDecoder().decode(UploadRequest.self, from: request.body)
      if let phone = process.phone { return checkUpload(upload, process, phone) }
      let authorization = request.headers["Authorization"] ?? ""
      for claim in upload.claims {
        check(claim, authorization)
        let key = claim.environment + "/" + claim.transactionID
        if let proof = upload.proof(of: claim) {
          checker.expect(
            .sendAfterEnqueue, store.hasSigned(proof.data, as: Names.order(claim.transactionID)),
            "\(key) is sent with the proof of another")
        } else {
          // The backend asks the store about transactions that it has seen.
          checker.expect(
            .sendAfterEnqueue, watch?.content.stones[key] != nil, "\(key) is sent without a proof")
        }
      }
    } catch {
      checker.broken(.ownName, "an upload cannot be read: \(error)")
    }
  }

  private func check(_ claim: Claim, _ authorization: String) {
    let key = claim.environment + "/" + claim.transactionID
    let sale = Names.order(claim.transactionID)
    guard let row = watch?.content.rows[key] else {
      return checker.expect(
        .sendAfterEnqueue, discarded.contains(sale), "\(key) is sent, and is not in the queue")
    }
    checker.expect(.sendAfterEnqueue, true, "")
    let name =
      Lane(rawValue: row.lane).account.map { "Bearer token-" + $0 }
      ?? (authorization.hasPrefix("Device ") ? authorization : "Device")
    checker.expect(.ownName, name == authorization, "\(key) of \(row.lane) is sent in another name")
    if store.sales[sale].isSeat {
      checker.expect(
        .seatIsMembers, claim.match == .none && name.hasPrefix("Device"),
        "\(key) is a seat, and is sent in lane \(row.lane), \(claim.match.rawValue)")
    }
    sends[sale, default: 0] += 1
    let count = sends[sale] ?? 0
    // An entry that was discarded in flight had its attempt on a removed row, and may be queued again as an update.
    checker.expect(
      .attempts, row.attempts >= count || discarded.contains(sale),
      "\(key) is sent \(count) times, with \(row.attempts) attempts")
  }

  func checkFinish(_ sale: Int, _ process: EngineProcess) {
    look()
    let key = Names.key(sale).rawValue
    let isSettled = watch?.content.stones[key] != nil
    if refused.contains(sale) {
      checker.expect(.failedEnqueue, isSettled, "\(key) could not be queued, and is finished")
    }
    checker.expect(
      .finishAfterAcknowledgement, isSettled, "\(key) is finished, and was not acknowledged")
  }

  /// No lane is locked, except by another process.
  func checkLeases(_ invariant: EngineInvariant, _ process: EngineProcess, _ when: String) {
    guard process.directory == directory else { return }
    guard !processes.contains(where: { $0 !== process && !$0.hasEnded }) else { return }
    for path in lanePaths(process.directory) {
      checker.expect(invariant, ForgottenLock(path: path) != nil, "\(when), and holds a lease")
    }
  }

  // MARK: The engine's log

  func logged(_ record: SyncLogRecord, _ process: EngineProcess) {
    guard process.isAlive else { return }
    tell(process, record.description)
    switch record.name {
    case "delivered":
      let content = content(of: process)
      for key in record.keys {
        checker.expect(
          .finished, content?.stones[key.rawValue] != nil,
          "\(key) is delivered, and its tombstone is not durable")
      }
    case "waiting":
      if record.text.contains("another process") { checker.mark(.laneContended) }
      for (tag, seconds) in process.asked where record.text.contains("tag \(tag).") {
        process.floor = max(process.floor, queue.now + seconds * 1_000)
        process.latestFloor = max(process.latestFloor, queue.now + seconds * 1_200)
      }
    default: break
    }
  }
}
