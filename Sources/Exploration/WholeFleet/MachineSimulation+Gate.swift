import PurchaseSync

/// A backend that decides about the requests of many simulations together.
extension MachineSimulation {
  /// The request that was left at the gate is answered, or refused as by a backend that is overloaded or down.
  func answer(_ number: Int, isServed: Bool, at moment: Int64) {
    let way = Int64(1 + network.below(knobs.latency))
    if isServed {
      plan(.uploadArrives, at: moment + way, number)
    } else {
      uploads[number].failure = .retry(reason: "HTTP 503", retryAfterMilliseconds: nil)
    }
    plan(.uploadEnds, at: moment + 2 * way, number)
  }
}
