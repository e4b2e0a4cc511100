import PurchaseQueue

/// What the engine tells, and what the app does with it.
extension Shop {
  func heard(_ event: SyncEvent) async {
    if let outcome = event.outcome {
      fulfilments.heard(outcome)
      fulfilNext()
    }
    answer(desk.heard(event))
    changed()
    // A transaction that the store delivers in the background opens the file.
    if isSuspended, !isFulfilling { await closeAgain() }
  }

  /// Every outcome that is not confirmed is tried now, those included that have failed.
  func tellAgain() async throws(SyncError) {
    guard let engine else { return }
    let moment = fulfilments.version
    fulfilments.read(try await engine.snapshot().outcomes, asOf: moment)
    fulfilments.tryAgain()
    fulfilNext()
    changed()
  }

  /// Goes through the outcomes, if that is not being done already: the app gets one at a time.
  func fulfilNext() {
    guard !isFulfilling, !isClosed else { return }
    isFulfilling = true
    listen { [weak self] in await self?.fulfilAll() }
  }

  private func fulfilAll() async {
    var until: Fulfilments.Instant?
    steps: while !isClosed, let engine, let step = fulfilments.next(at: configuration.system.uptime()) {
      switch step {
      case .fulfil(let outcome):
        // Confirmed also if the shop is being closed: otherwise the next one would give it once more.
        if await give(outcome) { await confirm(outcome, engine) }
      case .confirm(let outcome): await confirm(outcome, engine)
      case .wait(let moment):
        until = moment
        break steps
      }
      changed()
    }
    isFulfilling = false
    await closeAgain()
    if let until { fulfilNext(at: until) }
  }

  /// A call of `fulfil`.
  struct Giving: Equatable, Sendable {
    fileprivate var shop: ObjectIdentifier
    fileprivate var number: Int
  }

  /// The call of `fulfil` in which a task is, or was begun.
  @TaskLocal private static var giving: Giving?

  /// Whether the caller is in the `fulfil` that is under way: what waits there for an outcome would wait for itself.
  var isInsideFulfil: Bool { Self.giving.map { $0 == underWay } ?? false }

  /// False if `fulfil` has failed.
  private func give(_ outcome: Outcome) async -> Bool {
    givings += 1
    let giving = Giving(shop: ObjectIdentifier(self), number: givings)
    underWay = giving
    defer { underWay = nil }
    do {
      try await Self.$giving.withValue(giving) { try await fulfil(outcome) }
    } catch {
      fulfilments.failed(outcome, Self.text(of: error), at: configuration.system.uptime())
      return false
    }
    fulfilments.fulfilled(outcome)
    answer(desk.fulfilled(outcome))
    for number in restores.keys { restores[number]?.append(outcome) }
    return true
  }

  private func confirm(_ outcome: Outcome, _ engine: SyncEngine) async {
    do throws(SyncError) {
      try await engine.confirm(outcome)
      confirmationProblem = nil
      fulfilments.confirmed(outcome)
    } catch {
      confirmationProblem = error
      fulfilments.failed(outcome, nil, at: configuration.system.uptime())
    }
  }

  /// Goes on at this moment. A later call takes the place of an earlier one.
  private func fulfilNext(at moment: Fulfilments.Instant) {
    retry?.cancel()
    let system = configuration.system
    let pause = system.uptime().duration(to: moment).wholeMilliseconds + 1
    retry = Task { [weak self] in
      do {
        try await system.sleep(max(1, pause))
      } catch {
        return  // Cancelled: the shop is closed or released, or another moment counts.
      }
      await self?.fulfilNext()
    }
  }

  /// In the background, a call has opened the file again. An open file has locks with which a system may end the app.
  func closeAgain() async {
    guard isSuspended, drains + suspensions == 0, !isClosed else { return }
    await engine?.suspend(within: 0)
  }
}
