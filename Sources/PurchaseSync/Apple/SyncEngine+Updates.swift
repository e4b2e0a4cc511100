extension SyncEngine {
  /// Receives every transaction that arrives while the app runs, such as those of `StoreKitStore.updates`:
  /// approved Ask to Buy, offer codes, renewals, refunds, purchases on other devices.
  ///
  /// Returns when the sequence ends, the task is cancelled, or the engine is shut down. Call it in a task of
  /// its own, from launch on. A transaction that cannot be stored is reported as `SyncEvent.failed`. The
  /// store keeps it unfinished, and the engine reads it again at the next ``wake(_:)``.
  @concurrent public nonisolated func receive<Updates: AsyncSequence & Sendable>(updates: Updates) async
  where Updates.Element == StoreTransaction {
    do {
      for try await transaction in updates {
        guard await take(transaction) else { return }
      }
    } catch {
      await report(.store(reason: "its updates ended with an error"))
    }
  }

  /// False once the engine is shut down.
  private func take(_ transaction: StoreTransaction) async -> Bool {
    guard !isShutDown else { return false }
    do throws(SyncError) {
      try receive(transaction)
    } catch {
      report(error)
    }
    return true
  }
}

/// Reads sequences of the store that may yield all that they have and never end.
enum EndlessSequence {
  /// What a sequence yields until it ends, or until it has yielded nothing for so long. A reading that is cut off is left
  /// behind, and is not complete; so is that of a cancelled caller.
  static func elements<S: AsyncSequence & Sendable>(
    of sequence: S, quietMilliseconds quiet: Int64,
    patience: @escaping @Sendable (Int64) async throws -> Void = SystemDependencies.live.patience
  ) async -> (elements: [S.Element], isComplete: Bool) where S.Element: Sendable {
    let (events, event) = AsyncStream.makeStream(of: S.Element?.self)
    let reading = Task {
      do {
        for try await element in sequence { event.yield(element) }
        // A cancelled sequence ends early.
        if !Task.isCancelled { event.yield(nil) }
      } catch {
        return event.finish()  // Not complete: the next reading has the rest.
      }
      event.finish()
    }
    defer { reading.cancel() }
    let reader = SharedReader(events)
    var elements: [S.Element] = []
    while true {
      let limit = TimeLimit(milliseconds: quiet, patience: patience)
      guard let next = await limit.answer(of: { await reader.next() }) else { return (elements, false) }
      guard let element = next else { return (elements, true) }
      elements.append(element)
    }
  }

  /// One reader of a stream, in tasks that follow one another.
  private struct SharedReader<Element: Sendable>: Sendable {
    let events: AsyncStream<Element?>
    init(_ events: AsyncStream<Element?>) { self.events = events }
    /// Nil at the end of a stream that was cut off.
    func next() async -> Element?? {
      var iterator = events.makeAsyncIterator()
      return await iterator.next()
    }
  }
}
