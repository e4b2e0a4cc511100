import PurchaseQueue
import PurchaseSync
import Specification

/// The App Store as one process calls it.
struct EngineStore: StoreClient {
  let simulation: EngineSimulation
  let process: EngineProcess

  func unfinished() async throws -> StoreListing {
    if simulation.bug == .listsWithoutEnd {
      for _ in 0..<400 where process.isAlive {
        await simulation.queue.pause(50)
        simulation.countStoreCall(process)
      }
    }
    return try await simulation.list(process)
  }

  func receipt() async throws -> [UInt8]? {
    try await simulation.wait(simulation.shopWay(), process)
    return process.phone?.receipt ?? [0]
  }

  func refreshReceipt() async throws -> [UInt8]? {
    try await simulation.refreshReceipt(process)
  }

  func finish(transactionIDs: [String]) async throws -> [String: FinishResult] {
    try await simulation.finish(transactionIDs, process)
  }
}

extension EngineSimulation {
  /// Half of a call's way.
  func shopWay() -> Int64 { Int64(shop.below(knobs.latency + 1)) }

  /// Waits as a call of the process. It fails when the process dies.
  func wait(_ milliseconds: Int64, _ process: EngineProcess) async throws {
    guard process.isAlive else { throw Gone() }
    try await queue.sleep(milliseconds, .simulation)
    guard process.isAlive else { throw Gone() }
  }

  /// A call that never returns by itself. A deaf one ignores its cancellation as well.
  func hang(_ isDeaf: Bool, _ process: EngineProcess) async throws {
    if process.phone == nil { hangingCalls += 1 }
    defer { if process.phone == nil { hangingCalls -= 1 } }
    if isDeaf { await queue.pause(3_600_000) } else { try await queue.sleep(3_600_000, .simulation) }
    throw Gone()
  }

  func list(_ process: EngineProcess) async throws -> StoreListing {
    guard process.isAlive else { throw Gone() }
    checkCalls(process, "lists the store")
    countStoreCall(process)
    process.listings += 1
    defer { process.listings -= 1 }
    if process.listings > 1 { checker.mark(.listedWhileListing) }
    let fails = !isHealed && shop.chance(knobs.store)
    if fails, shop.chance(300) {
      checker.mark(.storeHung)
      try await hang(shop.chance(knobs.deaf), process)
    }
    let (way, back) = (shopWay(), shopWay())
    try await wait(way, process)
    // The listing may be out of date when it arrives.
    let account = storeAccount(of: process)
    let listed = store.listed[account].map { Int($0) }
    try await wait(back, process)
    if fails { throw Gone() }
    if listed != store.listed[account].map({ Int($0) }) { checker.mark(.staleListing) }
    process.isOpening = false
    if process.isEnding { checker.mark(.replyInShutdown) }
    tell(process, "the store lists \(listed.map(Names.id))")
    for sale in listed { protocolWatch?.take(.arrives(sale, at: process.device)) }
    return StoreListing(account: Names.storeAccounts[account], transactions: listed.map { transaction($0) })
  }

  func transaction(_ sale: Int) -> StoreTransaction {
    var transaction = store.transaction(
      sale, bySignature: true, isPaying: true, lacksNewest: false, at: Self.beginning + queue.now)
    if bug == .seatsPaid { transaction.ownership = nil }
    return withFirstProof(transaction, sale)
  }

  /// Each finish has a fate of its own. One that hangs holds up the others of its call, which goes on when the engine that
  /// made it has been shut down.
  func finish(_ ids: [String], _ process: EngineProcess) async throws -> [String: FinishResult] {
    guard process.isAlive else { throw Gone() }
    checkCalls(process, "finishes \(ids)")
    countStoreCall(process)
    if ids.count > 1 { checker.mark(.finishedTogether) }
    var results: [String: FinishResult] = [:]
    for id in ids {
      do {
        results[id] = try await finish(id, process)
      } catch {
        if Task.isCancelled || !process.isAlive { throw error }
      }
    }
    return results
  }

  func finish(_ id: String, _ process: EngineProcess) async throws -> FinishResult {
    guard process.isAlive else { throw Gone() }
    let sale = Names.order(id)
    if let phone = process.phone { checkFinish(sale, process, phone) } else { checkFinish(sale, process) }
    protocolWatch?.take(.finishes(sale, by: process.device))
    let account = storeAccount(of: process)
    guard store.sales[sale].buyer == account else { return .notListed }
    let isStruck = !isHealed && shop.chance(knobs.store)
    let fate = isStruck ? shop.below(3) : -1
    tell(process, "finishes \(id)" + (isStruck ? ", which fails" : ""))
    let (way, back) = (shopWay(), shopWay())
    if fate == 0 {
      checker.mark(.finishFailed)
      try await wait(way, process)
      throw Gone()
    }
    later(way) { [self] in
      guard store.finish(sale, as: account) else { return }
      checkKept(sale, "is finished")
    }
    if fate == 1 {
      checker.mark(.storeHung)
      try await hang(shop.chance(knobs.deaf), process)
    }
    try await wait(way + back, process)
    if fate == 2 {
      checker.mark(.finishTookEffectAndFailed)
      throw Gone()
    }
    return .finished
  }

  // MARK: Credentials

  func credentials(of account: String, _ process: EngineProcess) async -> String? {
    guard process.isAlive else { return nil }
    countQuestion(process)
    tell(process, "is asked for a token of \(account)")
    callBack(account, process)
    if !isHealed, people.chance(knobs.credentials) {
      if people.chance(400) {
        checker.mark(.credentialsHung)
        if process.phone == nil { hangingCalls += 1 }
        defer { if process.phone == nil { hangingCalls -= 1 } }
        if people.chance(knobs.deaf) {
          await queue.pause(3_600_000)
        } else {
          do { try await queue.sleep(3_600_000, .simulation) } catch { return nil }
        }
      }
      await queue.pause(Int64(people.below(3_000)))
    } else if people.chance(500) {
      await queue.pause(Int64(people.below(20)))
    }
    let asked = bug == .wrongAccountAfterAwait ? lastSignedIn : account
    if let phone = process.phone { return phone.user == account ? "token-" + account : nil }
    return signedOut.contains(asked) ? nil : "token-" + asked
  }
}
