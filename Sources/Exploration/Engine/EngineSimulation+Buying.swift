import Foundation
import PurchaseQueue
import PurchaseSync
import Specification

/// What people do with payment sheets, and what the store answers.
extension EngineSimulation {
  func buy(_ act: EngineAct, _ process: EngineProcess, _ engine: SyncEngine) async throws {
    buyers += 1
    defer { buyers -= 1 }
    let account = Names.accounts[people.below(knobs.accounts)]
    let product = people.below(knobs.products)
    switch act {
    case .dismissSheets: await dismissSheets(product, account, process, engine)
    case .neverConfirm:
      checker.mark(.neverConfirmed)
      tell(process, "confirms no outcome any more")
      process.confirms = false
    case .buyOwned: try await buyOwned(account, process, engine)
    default:
      guard let order = await begin(product, account, process, engine), process.isRunning else { return }
      let number = slot(of: order)
      if act == .chargeCancelled {
        checker.mark(.chargedAfterCancel)
        cancelled.insert(number)
        try await engine.receive(.cancelled, for: order)
      } else {
        checker.mark(.pendingSignedOut)
        try await engine.receive(.pending, for: order)
        signOut(account)
      }
      // The run does not end before the charge.
      buyers += 1
      later(Int64(people.pick([0, 1_000, 60_000]))) { [self] in
        buyers -= 1
        let sale = charge(product, number)
        guard let running = processes.last(where: \.isRunning), let engine = running.engine else { return }
        start(running) { await self.handOver(sale, running, engine) }
      }
    }
  }

  /// More sheets than the queue has entries. Nothing is queued in the meantime, so each of them gets its order.
  private func dismissSheets(
    _ product: Int, _ account: String, _ process: EngineProcess, _ engine: SyncEngine
  ) async {
    checker.mark(.sheetsDismissed)
    let before = standing
    // Another act may learn late that an earlier order was refused.
    var refusals = 0
    for _ in 0...min(knobs.entries, 4) {
      guard process.isRunning else { return }
      let (order, isRefused) = await begun(product, account, process, engine)
      if isRefused { refusals += 1 }
      guard let order, process.isRunning, people.chance(300) else { continue }
      do { try await engine.cancel(order: order.number) } catch { continue }
    }
    guard let before, before == standing else { return }
    checker.expect(
      .neverBlocked, refusals == 0, "nothing is queued, and there is no capacity for an order")
  }

  /// What has to stay as it is while an empty queue is to have capacity; nil if something is queued.
  private struct Standing: Equatable {
    var uploads: Int
    var sales: Int
    var discarded: Int
  }

  private var standing: Standing? {
    look()
    guard let content = watch?.content, content.rows.isEmpty else { return nil }
    return Standing(
      uploads: uploads, sales: store.sales.count, discarded: discarded.count)
  }

  /// The store answers the sheet of a new order with a transaction that it has charged before.
  private func buyOwned(_ account: String, _ process: EngineProcess, _ engine: SyncEngine) async throws {
    let earlier = ownSales.filter { store.sales[$0].order >= 0 }
    guard !earlier.isEmpty else { return }
    let sale = people.pick(earlier)
    guard let order = await begin(store.sales[sale].product, account, process, engine), process.isRunning
    else { return }
    checker.mark(.ownedReturned)
    returned.insert(sale)
    tell(process, "is answered \(Names.id(sale)) for order \(order.number)")
    if bug == .ownedWithoutOrder {
      protocolWatch?.take(.arrives(sale, at: process.device))
      try await engine.receive(transaction(sale))
    } else {
      protocolWatch?.take(.arrives(sale, at: process.device))
      try await engine.receive(transaction(sale), for: order)
    }
    // What was taken back before is not owned, and answers no payment.
    if process.isAlive, !store.sales[sale].isTakenBack { owned[order.number] = sale }
  }

  /// Invariant 36, when everything is delivered.
  func checkOwned() {
    // An outcome that another process got is published at the next launch.
    guard processes.count(where: { $0.directory == directory }) == 1 else { return }
    for (number, sale) in owned.sorted(by: { $0.key < $1.key }) where !discarded.contains(sale) {
      checker.expect(
        .eachOrderEnds, toldOwned.contains(number),
        "order \(number) was answered with \(Names.id(sale)), and has no outcome")
    }
  }

  // MARK: Orders that a device made

  /// The place of an order among the backend's; one that a device made gets its place here.
  func slot(of order: PurchaseOrder) -> Int {
    slot(order.number, order.accountToken, order.account, order.productID)
  }

  func slot(of order: DeviceOrder) -> Int {
    slot(order.number, order.accountToken, order.account, order.productID)
  }

  func slot(of number: String) -> Int { deviceOrders[number] ?? Names.order(number) }

  func number(of order: Int) -> String {
    deviceOrders.first { $0.value == order }?.key ?? String(order + 1)
  }

  private func slot(_ number: String, _ token: UUID, _ account: String, _ product: String) -> Int {
    guard number.hasPrefix("device-") else { return Names.order(number) }
    if let known = deviceOrders[number] { return known }
    checker.mark(.deviceMadeOrder)
    let place = backend.makeOrder(
      account: Names.account(account), product: Names.products.firstIndex(of: product) ?? 0,
      at: now.milliseconds)
    (deviceOrders[number], store.tokens[place]) = (place, token)
    return place
  }

  func register(_ request: BackendRequest, _ account: String) throws -> BackendResponse {
    let order = try JSONDecoder().decode(DeviceOrder.self, from: request.body)
    checker.expect(.ownName, order.account == account, "\(account) registers an order of \(order.account)")
    registered.insert(slot(of: order))
    return try answer(order.number, order.state)
  }

  /// An order was cancelled or deferred.
  func note(_ request: BackendRequest, _ account: String) throws -> BackendResponse {
    let parts = request.path.split(separator: "/").map(String.init)
    guard parts.count == 4, backend.orders.indices.contains(slot(of: parts[2])) else {
      return BackendResponse(status: 404, contentType: "application/json", body: Data())
    }
    let order = backend.orders[slot(of: parts[2])]
    checker.expect(.ownName, order.account == Names.account(account), "\(account) changes another's order")
    return try answer(parts[2], parts[3] == "cancel" ? .cancelled : .deferred)
  }

  private func answer(_ number: String, _ state: OrderState) throws -> BackendResponse {
    let place = slot(of: number)
    let order = backend.orders[place]
    let document = OrderDocument(
      number: number, accountToken: store.tokens[place] ?? Names.token(place),
      productID: Names.products[order.product], quantity: Names.units(of: order.product), state: state,
      createdAt: Timestamp(milliseconds: order.createdAt))
    return BackendResponse(
      status: 200, contentType: "application/json", body: try JSONEncoder().encode(document))
  }
}
