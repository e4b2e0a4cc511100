import PurchaseQueue

/// What the engine publishes, and what the app does with it.
extension Shop {
  func received(_ event: SyncEvent) {
    if let outcome = event.outcome {
      line.received(outcome)
      fulfilNext()
    }
    perform(sales.published(event))
    changed()
    peekAgain()
    changes.send()
  }

  /// The outcomes that are not confirmed are read once more. A person, or the app, asks: what has failed is tried now. A
  /// `fulfil` that asks is no person: its own failure keeps its pause.
  func readOutcomes() async throws(SyncError) {
    guard let engine else { return }
    let version = line.version
    line.merge(try await engine.unconfirmedOutcomes(), takenAt: version)
    if !isInsideFulfil { line.tryAgain(at: configuration.system.uptime()) }
    fulfilNext()
    changed()
  }

  /// Whether a step is under way, or due, that is expected to end soon.
  var isFulfilling: Bool { line.isBusy(at: configuration.system.uptime()) }

  /// Begins every step that may begin now, and sets the timer for the next one.
  func fulfilNext() {
    tasks[.retry] = nil
    while !isClosed, let engine {
      let now = configuration.system.uptime()
      switch line.next(at: now) {
      case .fulfil(let outcome): fulfil(outcome, line.begin(outcome, isFulfilling: true, at: now), engine)
      case .confirm(let outcome):
        line.begin(outcome, isFulfilling: false, at: now)
        listen { [weak self] in await self?.confirm(outcome, engine) }
      case .wait(let moment): return wait(.retry, until: moment) { await $0.stepEnded() }
      case nil: return
      }
    }
  }

  /// A call of `fulfil`, of this shop or of another one.
  private struct Caller {
    var shop: ObjectIdentifier
    var call: FulfilmentLine.FulfilCall
  }

  /// The call of `fulfil` in which a task is, or was begun.
  @TaskLocal private static var caller: Caller?

  /// Whether the caller is in a `fulfil` that is under way: what waits there for an outcome would wait for itself.
  var isInsideFulfil: Bool {
    guard let caller = Self.caller, caller.shop == ObjectIdentifier(self) else { return false }
    return line.isUnderWay(caller.call)
  }

  private func fulfil(_ outcome: Outcome, _ call: FulfilmentLine.FulfilCall, _ engine: SyncEngine) {
    let caller = Caller(shop: ObjectIdentifier(self), call: call)
    let fulfil = parts.fulfil
    configuration.system.sight?(.calls(.fulfil(outcome)))
    // A call that never returns keeps no shop alive.
    listen { [weak self] in
      let result: Result<Void, any Error>
      do {
        result = .success(try await Self.$caller.withValue(caller) { try await fulfil(outcome) })
      } catch {
        result = .failure(error)
      }
      await self?.returned(result, of: outcome, engine)
    }
  }

  private func returned(
    _ result: Result<Void, any Error>, of outcome: Outcome, _ engine: SyncEngine
  ) async {
    switch result {
    case .failure(let error):
      line.failed(outcome, Self.text(of: error), at: configuration.system.uptime())
      stepEnded()
    case .success:
      line.fulfilled(outcome)
      perform(sales.fulfilled(outcome))
      line.begin(outcome, isFulfilling: false, at: configuration.system.uptime())
      // Confirmed also if the shop is being closed: otherwise the next one would give it once more.
      await confirm(outcome, engine)
    }
  }

  private func confirm(_ outcome: Outcome, _ engine: SyncEngine) async {
    do throws(SyncError) {
      try await engine.confirm(outcome)
      feed.confirmationProblem = nil
      line.confirmed(outcome)
    } catch {
      feed.confirmationProblem = error
      line.failed(outcome, nil, at: configuration.system.uptime())
    }
    stepEnded()
  }

  /// A step has ended, or takes longer than expected.
  private func stepEnded() {
    fulfilNext()
    changed()
    changes.send()
  }
}
