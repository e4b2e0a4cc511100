import PurchaseQueue
import PurchaseSync

/// The requests with which an account takes the purchases of a device.
extension MachineSimulation {
  func sendAdoption(_ account: Int, _ process: Process) {
    checkAdoption(account, process)
    countRequest(process)
    process.adopting |= 1 << account
    note(.adoptionSent, on: process.phone)
    tell("phone \(process.phone.number + 1): the adoption of \(Names.accounts[account]) is sent")
    plan(
      .adoptionEnds, at: now + 2 * Int64(1 + network.below(knobs.latency)), process.number, process.launch,
      account)
  }

  func adoptionEnds(_ process: Process, _ account: Int) {
    process.adopting &= ~(1 << account)
    let fault = faultBits == 0 ? nil : Self.networkFaults.first { strikes($0, process.phone, &network) }
    var end = AdoptionEnd.taken
    switch fault {
    case nil, .delay, .duplicate:
      if process.phone.isSignedIn(account) {
        adoptDevice(process.phone.number, for: account)
        checker.mark(.adoptionTaken)
      } else {
        end = .failed(.signInNeeded)
      }
    case .dropRequest, .stall: end = .failed(.retry(reason: "no answer", retryAfterMilliseconds: nil))
    case .loseReply, .errorAfterCommit:
      adoptDevice(process.phone.number, for: account)
      end = .failed(.retry(reason: "no answer", retryAfterMilliseconds: nil))
    case let fault?: end = .failed(refusal(fault))
    }
    switch end {
    case .taken: noteAnswer(process)
    case .failed(let failure): noteAdoptionFailure(failure, process)
    }
    if behaviours != nil { note(.adoptionEnds, end == .taken ? 0 : 1, on: process.phone) }
    feed(process) { (machine, now) throws(QueueError) in
      try machine.adoptionEnded(account: Names.accounts[account], end, now: now)
    }
    shareBackend(of: process)
  }
}
