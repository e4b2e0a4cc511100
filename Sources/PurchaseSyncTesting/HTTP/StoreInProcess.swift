import PurchaseQueue

/// The store of a world, asked from outside of its lock.
struct StoreInProcess: ReceiptVerifier {
  let world: Locked<WorldState>

  func answer(to query: VerificationQuery, now: Timestamp) -> StoreAnswer {
    world.withLock { $0.ask(query, answers: [:], now: now) }
  }
}
