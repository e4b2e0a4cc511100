import Specification

/// A backend that grants what the store notifies it of, and then finishes it at the store, as the mock backend does with
/// `--finishes-at-store`. Which runs and purchases have it follows from their numbers: no random number is drawn.
extension MachineSimulation {
  private var finishesAtStore: Bool { knobs.profile == .swarm && knobs.seed % 3 == 0 }

  /// Plans the store's notification of a purchase for an order: before it is delivered, about then, or an hour later.
  func planNotification(of sale: Int) {
    let sold = store.sales[sale]
    // A token that the app does not know is a case of its own, and so is a purchase that breaks the backend.
    guard finishesAtStore, sold.order >= 0, sold.proofs == .signed, !sold.forgetsToken, sold.poison == .none
    else { return }
    plan(.notification, at: now + [0, Int64(knobs.latency), 3_600_000][sale % 3], sale)
  }

  /// The backend grants to the order's account, and finishes once the grant is durable. The device may upload before or
  /// after it, or never learn of the purchase.
  func notified(of sale: Int) {
    let sold = store.sales[sale]
    guard sold.revokedAt == nil else { return }
    checker.mark(.finishedByBackend)
    tell("the backend is notified of \(Names.id(sale)), and finishes it")
    // A planted bug: the finish comes first, and then the backend crashes.
    if bug != .finishesBeforeCommit {
      let claim = LeanBackend.LeanClaim(sale: sale, match: .none)
      let account = backend.orders[sold.order].account
      backend.forgetsTransactions = false
      _ = answer(on: claim, tokenIsTold: true, isProven: true, from: account, signedIn: -1)
      checker.expect(
        .oneCredit, backend.count(of: sale) <= 1,
        "\(Names.id(sale)) is credited \(backend.count(of: sale)) times")
      guard backend.count(of: sale) > 0 else { return }
    }
    note(.finishedByBackend, of: sale)
    if bug == .finishesBeforeCommit { deeds.note(sale) }
    guard store.finish(sale, as: sold.buyer) else { return }
    watch?.take(.finishedByBackend(sale))
    checkGone(sale, "was finished by the backend")
  }
}
