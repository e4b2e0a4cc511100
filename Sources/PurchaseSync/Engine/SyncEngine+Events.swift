import PurchaseQueue

/// What the app gets: events, and outcomes until they are confirmed.
extension SyncEngine {
  /// The events from now on, after the outcomes that are still unconfirmed. Several streams can be open; each gets every
  /// event, and each outcome once, unless it changes. The first one begins with the latest 64 events from before it, the
  /// start included.
  public func eventStream() throws(SyncError) -> AsyncStream<SyncEvent> {
    events.open(replaying: try unconfirmedOutcomes()) { [weak self] number in
      Task { await self?.closeStream(number) }
    } onRoom: { [weak self] number in
      Task { await self?.announceDropped(to: number) }
    }
  }

  /// An outcome goes out with the note of its order, as it is published to the account that is signed in. The
  /// outcomes of orders that the store answered with the same transaction follow.
  func emit(_ event: SyncEvent) {
    guard let outcome = event.outcome, !outcome.isAlreadyOwned, let file = open.file else {
      return send(event)
    }
    do throws(QueueError) {
      var published = outcome.addressed(to: configuration.currentAccount?())
      published.note = try file.note(of: published.orderNumber)
      send(SyncEvent(publishing: published))
      for owned in try file.ownedOutcomes(of: outcome.key) { send(SyncEvent(publishing: owned)) }
    } catch {
      // The outcome itself is in the tombstone. The others are in the file, and come with the next stream.
      send(SyncEvent(publishing: outcome.addressed(to: configuration.currentAccount?())))
      send(.failed(.queue(error)))
    }
  }

  private func send(_ event: SyncEvent) {
    saw(.event(event))
    meter.count(event)
    if events.send(event) { configuration.log?(SyncLogRecord(event)) }
  }

  /// Reports answers that the verifier refused.
  func reportRefusedReplies() {
    for reason in ports.backend.takeRefusedReplies() { emit(.replyRejected(reason: reason)) }
  }

  func report(_ error: SyncError) { emit(.failed(error)) }

  /// Work for which no caller waits: an error is only reported.
  func reporting(_ work: () throws(SyncError) -> Void) {
    do throws(SyncError) {
      try work()
    } catch {
      report(error)
    }
  }

  func closeStream(_ number: Int) { events.close(number) }

  /// A reader has read most of its events. It gets the outcomes that were dropped, as many as it has capacity for.
  func announceDropped(to number: Int) {
    // When the file is open again, all outcomes are announced.
    guard !isShutDown, open.isOpen else { return }
    reporting { () throws(SyncError) in
      for outcome in events.unpublished(try unconfirmedOutcomes(), to: number) {
        emit(SyncEvent(publishing: outcome))
      }
    }
  }

  /// Publishes outcomes that the app does not know: another process of this installation brought them, or another
  /// account is signed in.
  func announceOutcomes() {
    reporting { () throws(SyncError) in
      let unpublished = events.unpublished(try unconfirmedOutcomes())
      for outcome in unpublished.prefix(EventStreams.capacity) { emit(SyncEvent(publishing: outcome)) }
    }
  }

  /// Publishes what another process has brought. Nothing is sent for it.
  func lookForOutcomes() {
    guard isAwake, open.isOpen else { return }
    announceOutcomes()
  }

  /// The outcomes that the app has not confirmed, as they are published to the account that is signed in.
  func unconfirmedOutcomes() throws(SyncError) -> [Outcome] {
    let account = configuration.currentAccount?()
    let outcomes = try withFile { (file) throws(QueueError) in try file.unconfirmedOutcomes() }
    return outcomes.map { $0.addressed(to: account) }
  }
}
