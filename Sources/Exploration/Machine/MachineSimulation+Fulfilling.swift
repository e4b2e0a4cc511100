import PurchaseQueue
import PurchaseSync

/// An app whose `fulfil` fails for a while. The shop's own rules say which outcome it gets when.
extension MachineSimulation {
  private static let beginning = ContinuousClock.now

  private var instant: FulfilmentLine.Instant { Self.beginning.advanced(by: .milliseconds(now)) }

  func failFulfil(_ phone: Phone, for milliseconds: Int64) {
    tell("phone \(phone.number + 1): fulfil fails for \(milliseconds / 1_000) s")
    phone.fulfilFailsUntil = max(phone.fulfilFailsUntil, now + milliseconds)
  }

  /// An earlier moment takes the place of a later one.
  func planFulfilment(_ process: Process, at moment: Int64) {
    if let known = process.fulfilsAt, known <= moment { return }
    process.fulfilsAt = moment
    plan(.fulfilAgain, at: moment, process.number, process.launch)
  }

  func fulfilAgain(_ process: Process) {
    guard process.fulfilsAt == now else { return }
    process.fulfilsAt = nil
    while process.isAlive, process.phone.confirms, let step = process.fulfilments.next(at: instant) {
      switch step {
      case .fulfil(let outcome): fulfil(outcome, process)
      case .confirm(let outcome): confirm(outcome, process)
      case .wait(let moment): return wait(until: moment, process)
      }
    }
  }

  private func wait(until moment: FulfilmentLine.Instant, _ process: Process) {
    guard bug == .fulfilsAtOnce, !process.failedFulfilments.isEmpty else {
      let pause = Int64((instant.duration(to: moment) / .milliseconds(1)).rounded(.up))
      return planFulfilment(process, at: now + max(1, pause))
    }
    // The failures are forgotten.
    process.fulfilments = FulfilmentLine()
    for (key, outcome) in process.failedFulfilments.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      deeds.note(Names.transaction(key))
      process.fulfilments.received(outcome)
    }
    planFulfilment(process, at: now + 100)
  }

  private func fulfil(_ outcome: Outcome, _ process: Process) {
    process.fulfilments.begin(outcome, isFulfilling: true, at: instant)
    let hasFailed = process.failedFulfilments[outcome.key] != nil
    if hasFailed { checker.mark(.fulfilFailed) }
    let fails = process.phone.fulfilFailsUntil > now
    // The first call of an outcome, and the one that fulfils it, are none that come again and again.
    let isRepeated = process.fulfilledOutcomes.contains(outcome) || fails && hasFailed
    if isRepeated { countRepeatedFulfilment(process) }
    if fails {
      process.failedFulfilments[outcome.key] = outcome
      process.fulfilments.failed(outcome, "its server does not answer", at: instant)
    } else {
      process.failedFulfilments[outcome.key] = nil
      process.fulfilledOutcomes.insert(outcome)
      process.fulfilments.fulfilled(outcome)
    }
  }

  private func confirm(_ outcome: Outcome, _ process: Process) {
    note(.isConfirmed, of: Names.transaction(outcome.key), process.phone)
    process.fulfilments.begin(outcome, isFulfilling: false, at: instant)
    let error = step(process) { (machine, now) throws(QueueError) in
      try machine.outcomeConfirmed(outcome, now: now) ?? []
    }
    guard process.isAlive else { return }
    if error == nil {
      process.fulfilments.confirmed(outcome)
    } else {
      process.fulfilments.failed(outcome, nil, at: instant)
    }
  }
}
