import PurchaseQueue
import PurchaseSync

/// Wakes, with the engine's pace.
extension MachineSimulation {
  func wakeUp(_ process: Process, _ reason: Int) {
    guard process.isAlive else { return }
    if reason == 2 { checker.mark(.tapped) }
    if reason == 1, process.phone.cameOnlineAt == now - 1, process.phone.shadow.queued > 0 {
      checker.mark(.cameOnline)
    }
    paceWake(process, [.foreground, .networkBack, .userAsked][reason])
  }

  /// A wake that comes too fast has its effect later.
  func paceWake(_ process: Process, _ reason: WakeReason) {
    guard !process.wakes.takes(reason, at: now) else { return wakeAndList(process, reason) }
    noteWake(of: process, reason)
    planPendingWakes(process)
  }

  func performPendingWakes(_ process: Process) {
    process.hasPendingWakes = false
    guard !process.isSuspended else { return process.wakes.forgetPending() }
    for reason in process.wakes.due(at: now) where process.isAlive { wakeAndList(process, reason) }
    planPendingWakes(process)
  }

  private func planPendingWakes(_ process: Process) {
    guard !process.hasPendingWakes, process.isAlive, let wait = process.wakes.wait(at: now) else { return }
    process.hasPendingWakes = true
    plan(.wakes, at: now + max(1, wait), process.number, process.launch)
  }

  private func wakeAndList(_ process: Process, _ reason: WakeReason) {
    wake(process, reason)
    list(process)
  }

  func wake(_ process: Process, _ reason: WakeReason) {
    switch reason {
    case .foreground:
      process.isSuspended = false
      process.waitingLanes = 0
    case .userAsked: (process.waitingLanes, process.personLanes, process.personAdoptions) = (0, -1, -1)
    case .signedIn(let account): process.waitingLanes &= ~(2 << Names.account(account))
    case .networkBack: break
    }
    noteWake(of: process, reason)
    defer { if reason == .foreground { list(process) } }
    if bug == .wakeForgotten { return deeds.note() }
    feed(process) { (machine, now) throws(QueueError) in machine.woken(reason, now: now) }
  }

  // MARK: What the processes of a phone know of the backend

  /// A failure at one request does not end the recovery of a backend that has just answered others.
  func noteUnwell(_ process: Process, _ failure: UploadFailure) {
    if failure.blame == .nothing || process.recoveringSends == 0 { process.isFailing = true }
  }

  /// Requests that follow what no observer sees (a restart, an entry whose wait a wake ended, a person who asks) end a
  /// recovery, too. Never the other way: what the file says does not allow more of them.
  func followRecovery(_ process: Process) {
    guard !process.storage.hasStruck else { return }
    process.recoveringSends = min(process.recoveringSends, process.phone.shadow.retry.pace.pacedSendsLeft)
  }

  /// The file now holds what the process knows of the backend: the other one reads it before its next request.
  func shareBackend(of process: Process) {
    guard process.isAlive, !process.storage.hasStruck else { return }
    for other in processes where other.phone === process.phone && other.isAlive && other !== process {
      (other.isFailing, other.recoveringSends) = (process.isFailing, process.recoveringSends)
      if process.floorOfAll > 0 { other.raiseFloor(to: process.floorOfAll) }
    }
  }
}
