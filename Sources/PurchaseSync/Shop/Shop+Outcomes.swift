import PurchaseQueue

/// What the engine publishes, and what the app does with it.
extension Shop {
  func heard(_ event: SyncEvent) async {
    if let outcome = event.outcome {
      fulfilments.heard(outcome)
      fulfilNext()
    }
    answer(desk.heard(event))
    changed()
    peekAgain()
    changes.send()
  }

  /// The outcomes that are not confirmed are read once more. A person, or the app, asks: what has failed is tried now. A
  /// `fulfil` that asks is no person: its own failure keeps its pause.
  func tellAgain() async throws(SyncError) {
    guard let engine else { return }
    let moment = fulfilments.version
    fulfilments.read(try await engine.snapshot().outcomes, asOf: moment)
    if !isInsideFulfil { fulfilments.tryAgain(at: configuration.system.uptime()) }
    fulfilNext()
    changed()
  }

  /// Whether a step is under way, or due, that is expected to end soon.
  var isFulfilling: Bool { fulfilments.isBusy(at: configuration.system.uptime()) }

  /// Begins every step that may begin now, and sets the timer for the next one.
  func fulfilNext() {
    retry?.cancel()
    while !isClosed, let engine {
      let now = configuration.system.uptime()
      switch fulfilments.next(at: now) {
      case .fulfil(let outcome):
        fulfilments.begin(outcome, isFulfilling: true, at: now)
        give(outcome, engine)
      case .confirm(let outcome):
        fulfilments.begin(outcome, isFulfilling: false, at: now)
        listen { [weak self] in await self?.confirm(outcome, engine) }
      case .wait(let moment): return fulfilNext(at: moment)
      case nil: return
      }
    }
  }

  /// A call of `fulfil`.
  struct Giving: Hashable, Sendable {
    fileprivate var shop: ObjectIdentifier
    fileprivate var number: Int
  }

  /// The call of `fulfil` in which a task is, or was begun.
  @TaskLocal private static var giving: Giving?

  /// Whether the caller is in a `fulfil` that is under way: what waits there for an outcome would wait for itself.
  var isInsideFulfil: Bool { Self.giving.map { underWay.contains($0) } ?? false }

  private func give(_ outcome: Outcome, _ engine: SyncEngine) {
    givings += 1
    let giving = Giving(shop: ObjectIdentifier(self), number: givings)
    underWay.insert(giving)
    let fulfil = self.fulfil
    configuration.system.sight?(.calls(.fulfil(outcome)))
    // A call that never returns keeps no shop alive.
    listen { [weak self] in
      let result: Result<Void, any Error>
      do {
        result = .success(try await Self.$giving.withValue(giving) { try await fulfil(outcome) })
      } catch {
        result = .failure(error)
      }
      await self?.gave(outcome, giving, result, engine)
    }
  }

  private func gave(
    _ outcome: Outcome, _ giving: Giving, _ result: Result<Void, any Error>, _ engine: SyncEngine
  ) async {
    underWay.remove(giving)
    switch result {
    case .failure(let error):
      fulfilments.failed(outcome, Self.text(of: error), at: configuration.system.uptime())
      await stepEnded()
    case .success:
      fulfilments.fulfilled(outcome)
      answer(desk.fulfilled(outcome))
      for number in restores.keys { restores[number]?.append(outcome) }
      fulfilments.begin(outcome, isFulfilling: false, at: configuration.system.uptime())
      // Confirmed also if the shop is being closed: otherwise the next one would give it once more.
      await confirm(outcome, engine)
    }
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
    await stepEnded()
  }

  /// A step has ended, or takes longer than expected.
  private func stepEnded() async {
    fulfilNext()
    changed()
    changes.send()
  }

  /// Goes on at this moment. A later call takes the place of an earlier one.
  private func fulfilNext(at moment: Fulfilments.Instant) {
    let system = configuration.system
    let pause = system.uptime().duration(to: moment).wholeMilliseconds + 1
    retry = Task { [weak self] in
      do {
        try await system.sleep(max(1, pause))
      } catch {
        return  // Cancelled: the shop is closed or released, or another moment counts.
      }
      await self?.stepEnded()
    }
  }
}
