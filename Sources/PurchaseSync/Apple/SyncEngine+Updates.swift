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
