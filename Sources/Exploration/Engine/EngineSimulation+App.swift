import Foundation
import PurchaseQueue
import PurchaseSync
import Specification

/// The app of a process: it buys, listens and confirms.
extension EngineSimulation {
  // MARK: Buying

  /// A purchase with or without an order.
  func buy() {
    guard let process = processes.last(where: { $0.isRunning }), let engine = process.engine else {
      return later(500) { [self] in if bought < knobs.purchases, !isHealed { buy() } }
    }
    bought += 1
    let product = people.below(knobs.products)
    let account = Names.accounts[people.below(knobs.accounts)]
    if people.chance(knobs.withoutOrder) {
      buyers += 1
      start(process) { [self] in
        defer { buyers -= 1 }
        await pay(product, nil, process, engine)
      }
      return
    }
    order(product, account, process, engine)
    if people.chance(100) {
      checker.mark(.beginTwice)
      order(product, account, process, engine)
    }
  }

  private func order(_ product: Int, _ account: String, _ process: EngineProcess, _ engine: SyncEngine) {
    process.begun += 1
    let number = process.begun
    let before = queue.owner
    queue.owner = process.number
    buyers += 1
    process.begins[number] = Task { [self] in
      defer { buyers -= 1 }
      let order = await begin(product, account, process, engine)
      process.begins[number] = nil
      guard let order, process.isAlive else { return }
      await pay(product, slot(of: order), process, engine)
    }
    queue.owner = before
    // The user may lose patience.
    guard people.chance(250) else { return }
    later(Int64(people.below(2 * knobs.latency + 10))) { [self] in cancel(number, process) }
  }

  private func cancel(_ number: Int, _ process: EngineProcess) {
    guard let task = process.begins[number], process.isAlive else { return }
    checker.mark(.beginCancelled)
    tell(process, "cancels its request for an order")
    task.cancel()
    obligations.append(
      (.cancelReturns, "a cancelled begin never returned", process, { process.begins[number] == nil }))
  }

  func begin(
    _ product: Int, _ account: String, _ process: EngineProcess, _ engine: SyncEngine
  ) async -> PurchaseOrder? { await begun(product, account, process, engine).order }

  /// As `begin`, and whether there was no capacity for the order.
  func begun(
    _ product: Int, _ account: String, _ process: EngineProcess, _ engine: SyncEngine
  ) async -> (order: PurchaseOrder?, isRefused: Bool) {
    do {
      let order = try await engine.begin(
        product: Names.products[product], quantity: Names.units(of: product), account: account)
      guard process.isAlive else { return (nil, false) }
      tell(process, "has order \(order.number)")
      // By an earlier process of the phone, perhaps: `checkHandedOut` sees how long ago.
      let isFree = ordersHandedOut[order.number, default: []].allSatisfy {
        $0 !== process && $0.device == process.device
      }
      checker.expect(.binding, isFree, "order \(order.number) was handed out twice")
      ordersHandedOut[order.number, default: []].append(process)
      _ = content(of: process)
      return (Task.isCancelled ? nil : order, false)
    } catch {
      if process.isAlive { tell(process, "has no order: \(error)") }
      guard case .queue(.queueFull) = error else { return (nil, false) }
      checker.mark(.queueFull)
      return (nil, true)
    }
  }

  /// The payment sheet, the charge and the store's callback. A dead process does not prevent the charge.
  private func pay(_ product: Int, _ order: Int?, _ process: EngineProcess, _ engine: SyncEngine) async {
    let sheet = Int64(people.below(200))
    var sale: Int?
    later(sheet) { [self] in
      let paid = charge(product, order)
      sale = paid
      // The store delivers the transaction to the process that then runs.
      guard !process.isRunning, let other = processes.last(where: \.isRunning), let engine = other.engine
      else {
        return
      }
      start(other) { await self.handOver(paid, other, engine) }
    }
    await queue.pause(sheet + Int64(people.below(50)))
    guard process.isRunning, let sale else { return }
    await handOver(sale, process, engine)
  }

  /// `original`: the first transaction of a subscription that is bought again. `seat`: the order whose token a seat carries,
  /// -1 for none.
  func charge(
    _ product: Int, _ order: Int?, after original: Int? = nil, on phone: EnginePhone? = nil, seat: Int? = nil
  ) -> Int {
    let sale = store.charge(
      LeanStore.Sale(
        buyer: phone?.storeAccount ?? 0, product: product, paidAt: now.milliseconds, order: order ?? -1,
        original: original ?? store.sales.count, forgetsToken: false, proofs: .signed, poison: .none,
        phone: phone?.number ?? 0, seat: seat
      ))
    noteCharge(sale)
    tell(nil, "the store charges for \(Names.id(sale))" + (order.map { ", order \($0 + 1)" } ?? ""))
    return sale
  }

  func noteCharge(_ sale: Int) {
    isOnRecord.append(false)
    given.append([])
    watchCharge(sale)
  }

  func handOver(_ sale: Int, _ process: EngineProcess, _ engine: SyncEngine) async {
    guard process.isAlive else { return }
    if process.isOpening { checker.mark(.deliveryInOpening) }
    if bug == .cancelledIsUnpaid, cancelled.contains(store.sales[sale].order) {
      // The app believes that nothing was charged, and clears the transaction away.
      do { _ = try await finish(Names.id(sale), process) } catch { return }
      return
    }
    protocolWatch?.take(.arrives(sale, at: process.device))
    do {
      try await engine.receive(transaction(sale))
      guard process.isAlive else { return }
      refused.remove(sale)
      tell(process, "took \(Names.id(sale))")
    } catch {
      guard process.isAlive else { return }
      if case .queue(.queueFull) = error { checker.mark(.queueFull) }
      refused.insert(sale)
      if process.isEnding, let other = processes.last(where: \.isRunning), let next = other.engine {
        start(other) { await self.handOver(sale, other, next) }
      }
      tell(process, "did not take \(Names.id(sale)): \(error)")
    }
    if bug == .finishInADefer {
      do { _ = try await finish(Names.id(sale), process) } catch { return }
    }
  }

  // MARK: Listening

  func listen(_ process: EngineProcess) async {
    guard let engine = process.engine else { return }
    do {
      let events = try await engine.eventStream()
      process.streamsOpened += 1
      for await event in bug == .streamNeverEnds ? Self.copy(of: events) : events {
        guard process.isAlive else { return }
        guard let outcome = event.outcome else { continue }
        if let phone = process.phone {
          if !outcome.isAlreadyOwned { hears(outcome, process, phone) }
          start(process) { await self.confirm(outcome, process, engine) }
          continue
        }
        if outcome.isAlreadyOwned {
          toldOwned.insert(outcome.orderNumber ?? "")
          tell(process, "is told that \(outcome.orderNumber ?? "") is owned already")
          start(process) { await self.confirmOwned(outcome, process, engine) }
          continue
        }
        countOutcome(process)
        if bug == .tellsUntilConfirmed { tellAgain(process, outcome.key.rawValue) }
        tell(outcome.key.rawValue, process, outcome.verdict)
        checkOwner(outcome)
        if bug == .confirmedForTheApp { try await engine.confirm(outcome) }
        guard process.confirms || isHealed else { continue }
        start(process) { await self.confirm(outcome, process, engine) }
      }
      process.streamsEnded += 1
    } catch {
      return  // Shut down before it listened.
    }
  }

  /// A planted bug: an app copies a stream for several listeners and does not end the copies.
  private static func copy(of events: AsyncStream<SyncEvent>) -> AsyncStream<SyncEvent> {
    let (copy, continuation) = AsyncStream.makeStream(of: SyncEvent.self)
    Task { for await event in events { continuation.yield(event) } }
    return copy
  }

  /// The app receives an outcome, which has to be permanent.
  func tell(_ key: String, _ process: EngineProcess, _ verdict: Verdict = .granted) {
    let sale = Names.transaction(EntryKey(rawValue: key))
    watchOutcome(of: sale, verdict, process)
    told[sale, default: 0] += 1
    tell(process, "is told of \(Names.id(sale))")
    look()
    checker.expect(
      .finished, watch?.content.stones[key] != nil,
      "the app received the outcome of \(key), which is not settled in the file")
  }

  /// A planted bug.
  private func tellAgain(_ process: EngineProcess, _ key: String, left: Int = 400) {
    later(100) { [self] in
      guard process.isAlive, left > 0, watch?.content.stones[key]?.isUnconfirmed == true else { return }
      countOutcome(process)
      tellAgain(process, key, left: left - 1)
    }
  }

  private func confirm(_ outcome: Outcome, _ process: EngineProcess, _ engine: SyncEngine) async {
    await queue.pause(Int64(people.pick([0, 0, 100, 5_000])))
    guard process.isAlive else { return }
    await confirmNow(outcome, process, engine)
    if people.chance(100), process.isAlive {
      checker.mark(.confirmedTwice)
      await confirmNow(outcome, process, engine)
    }
  }

  private func confirmOwned(_ outcome: Outcome, _ process: EngineProcess, _ engine: SyncEngine) async {
    await queue.pause(Int64(people.pick([0, 100, 5_000])))
    guard process.isAlive else { return }
    do {
      try await engine.confirm(outcome)
    } catch {
      // The next start delivers it again.
      if process.isAlive { tell(process, "cannot confirm: \(error)") }
    }
  }

  private func confirmNow(_ outcome: Outcome, _ process: EngineProcess, _ engine: SyncEngine) async {
    if process.phone == nil { confirmed.insert(Names.transaction(outcome.key)) }
    do {
      try await engine.confirm(outcome)
    } catch {
      // The next start delivers it again.
      if process.isAlive { tell(process, "cannot confirm: \(error)") }
    }
  }
}
