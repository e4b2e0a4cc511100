import Foundation
import PurchaseQueue
import PurchaseSync
import Specification

/// Other phones: a new one on which a person restores, and one that begins with a copy of the first one's file.
extension EngineSimulation {
  /// All processes of all phones.
  var allProcesses: [EngineProcess] { processes + phones.flatMap(\.processes) }

  /// The Apple ID of the phone on which a process runs.
  func storeAccount(of process: EngineProcess) -> Int { process.phone?.storeAccount ?? 0 }

  /// The account that uses the phone on which a process runs.
  func user(of process: EngineProcess) -> String? { process.phone.map(\.user) ?? user }

  func vault(of process: EngineProcess) -> EngineProcessVault? {
    (process.phone?.vault ?? vault).map { EngineProcessVault(vault: $0, process: process) }
  }

  // MARK: Acts

  /// A new phone of the same Apple ID, which any account may use. It is empty, and so is its vault.
  func restoreOnNewPhone() {
    var users: [String?] = Names.accounts
    users.append(nil)
    do {
      let phone = EnginePhone(
        number: phones.count + 1, storeAccount: 0, user: people.pick(users), directory: try makeDirectory(),
        vault: EngineVault(), copied: nil)
      let isForAnother = people.chance(500)
      let next: String?? = isForAnother ? .some(people.pick(users)) : .none
      checker.mark(.restoredOnNewPhone)
      begin(phone) { process, engine in await self.restore(process, engine, thenAs: next) }
    } catch {
      checker.broken(.prefix, "a new phone has no directory: \(error)")
    }
  }

  /// A phone with a copy of the first one's file and a vault of its own. It has another Apple ID and another person, or
  /// the same ones.
  func startFromCopy() {
    look()
    guard let watch, let vault, !phones.contains(where: \.isClone) else { return }
    let isAnothers = people.chance(700)
    let user = isAnothers ? "carol" : Names.accounts[people.below(knobs.accounts)]
    do {
      let place = try makeDirectory()
      for name in try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
      where name == "q" || name == "q-wal" {
        try FileManager.default.copyItem(atPath: directory + "/" + name, toPath: place + "/" + name)
      }
      let phone = EnginePhone(
        number: phones.count + 1, storeAccount: isAnothers ? 1 : 0, user: people.chance(800) ? user : nil,
        directory: place, vault: EngineVault(), copied: watch.content)
      if bug == .vaultMovesAlong { phone.vault.items = vault.items }
      checker.mark(.startedFromCopy)
      protocolWatch?.take(.copied(to: phone.number, from: 0))
      committed[phone.number] = phone.copied
      if !phone.copied.rows.isEmpty { checker.mark(.copiedWithEntries) }
      begin(phone) { process, engine in await self.live(process, engine) }
    } catch {
      checker.broken(.prefix, "the file could not be copied: \(error)")
    }
  }

  private func begin(
    _ phone: EnginePhone, _ body: @escaping @Sendable (EngineProcess, SyncEngine) async -> Void
  ) {
    phones.append(phone)
    launch(phone, body)
  }

  private func launch(
    _ phone: EnginePhone, _ body: @escaping @Sendable (EngineProcess, SyncEngine) async -> Void
  ) {
    let process = makeProcess(phone.name, in: phone.directory)
    process.phone = phone
    phone.processes.append(process)
    let person = phone.user ?? "no account"
    tell(process, "is launched, with \(person), \(Names.storeAccounts[phone.storeAccount])")
    // The run does not end before the person has done all that.
    buyers += 1
    start(process) { [self] in
      defer { buyers -= 1 }
      await open(process)
      if process.isRunning, let engine = process.engine { await body(process, engine) }
    }
  }

  /// The app ends, in one of two ways, and is launched again. `user`: who then uses it.
  private func relaunch(
    _ phone: EnginePhone, as user: String?,
    _ body: @escaping @Sendable (EngineProcess, SyncEngine) async -> Void
  ) {
    buyers += 1
    let isKilled = people.chance(500)
    later(0) { [self] in
      guard let process = phone.process, process.isRunning else { return buyers -= 1 }
      let next: @Sendable () -> Void = { [self] in
        phone.user = user
        launch(phone, body)
        buyers -= 1
      }
      guard isKilled else { return shutdown(process, then: next) }
      tell(process, "is killed")
      kill(process)
      later(Int64(people.pick([0, 10, 1_000])), next)
    }
  }

  // MARK: Restoring

  private func restore(
    _ process: EngineProcess, _ engine: SyncEngine, thenAs next: String??
  ) async {
    await restore(process, engine)
    guard let phone = process.phone, let next, process.isRunning else { return }
    // The engine may still wait for capacity, or for an answer.
    await queue.pause(Int64(people.pick([0, 100, 20_000])))
    guard process.isRunning else { return }
    checker.mark(.restoredAgain)
    relaunch(phone, as: next) { await self.restore($0, $1) }
  }

  /// The user asks until the store answers.
  private func restore(_ process: EngineProcess, _ engine: SyncEngine) async {
    while process.isRunning {
      do {
        tell(process, "restores")
        try await engine.refreshReceipt()
        return
      } catch SyncError.queue(let error) {
        // Its transactions are taken over later.
        return tell(process, "restores not all at once: \(error)")
      } catch {
        tell(process, "cannot restore: \(error)")
        await queue.pause(5_000)
      }
    }
  }

  /// The store makes a new receipt of all that the Apple ID has bought, and that is not used up.
  func refreshReceipt(_ process: EngineProcess) async throws -> [UInt8]? {
    let fails = !isHealed && shop.chance(knobs.store)
    try await wait(shopWay(), process)
    if fails { throw Gone() }
    guard let phone = process.phone else { return nil }
    let receipt = store.receipt(of: phone.storeAccount)
    let held = store.receipts[receipt].held.map { Int($0) }
    let bytes = EngineReceipt.bytes(of: held, in: store)
    receipts[Data(bytes).base64EncodedString()] = Set(held)
    phone.receipt = bytes
    // What an earlier receipt held and this one does not is used up: another phone has finished it.
    phone.restored = Set(held)
    for sale in held { protocolWatch?.take(.arrives(sale, at: phone.number)) }
    if !held.isEmpty { checker.mark(.receiptRestored) }
    tell(process, "the receipt holds \(held.map(Names.id))")
    return bytes
  }

  // MARK: On a copy

  /// A person buys on a phone that began with a copy, and adopts what its device has.
  private func live(_ process: EngineProcess, _ engine: SyncEngine) async {
    guard let phone = process.phone else { return }
    let isAgain = people.chance(500)
    for step in people.pick([[0, 1, 2], [1, 2, 0], [2, 0, 1]]) {
      await queue.pause(Int64(people.pick([0, 100, 5_000])))
      guard process.isRunning else { return }
      switch step {
      case 0: await give(sell(nil, people.below(knobs.products), on: phone), process, engine)
      case 1: await buyWithOrder(process, engine)
      default: await adopt(process, engine)
      }
    }
    guard isAgain, process.isRunning else { return }
    relaunch(phone, as: phone.user) { await self.adopt($0, $1) }
  }

  private func adopt(_ process: EngineProcess, _ engine: SyncEngine) async {
    guard let user = process.phone?.user, people.chance(700) else { return }
    checker.mark(.adoptedOnCopy)
    do {
      try await engine.adoptDevicePurchases(for: user)
    } catch {
      if process.isAlive { tell(process, "cannot adopt: \(error)") }
    }
  }

  private func buyWithOrder(_ process: EngineProcess, _ engine: SyncEngine) async {
    // Another account than those of the first phone: the copy holds no order of it.
    guard let phone = process.phone, phone.storeAccount == 1, let user = phone.user else { return }
    let product = people.below(knobs.products)
    guard let order = await begin(product, user, process, engine), process.isRunning else { return }
    await give(sell(slot(of: order), product, on: phone), process, engine)
  }

  private func sell(_ order: Int?, _ product: Int, on phone: EnginePhone) -> Int {
    checker.mark(.boughtOnCopy)
    let sale = charge(product, order, on: phone)
    phone.bought.insert(sale)
    return sale
  }

  /// What the engine does not take now is listed again.
  private func give(_ sale: Int, _ process: EngineProcess, _ engine: SyncEngine) async {
    protocolWatch?.take(.arrives(sale, at: process.device))
    do {
      try await engine.receive(transaction(sale))
      if process.isAlive { tell(process, "took \(Names.id(sale))") }
    } catch {
      if process.isAlive { tell(process, "did not take \(Names.id(sale)): \(error)") }
    }
  }

  // MARK: The end

  /// The faults have ended: the apps of the other phones come to the foreground.
  func wakePhones() {
    for phone in phones {
      if let process = phone.process, process.isRunning, let engine = process.engine {
        wake(.foreground, process, engine)
      }
    }
  }
}
