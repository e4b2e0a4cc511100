import PurchaseSync
import VirtualTime

/// Invariant 42: nothing runs without a pace.
extension MachineSimulation {
  /// A request leaves the phone.
  func countRequest(_ process: Process, isUpload: Bool = false) {
    if isUpload { paced(.upload, process) }
    paced(.request, process)
  }

  func countStoreCall(_ process: Process) { paced(.store, process) }

  /// The app is given again what it has failed to fulfil, and fails at again, or what it has fulfilled.
  func countRepeatedFulfilment(_ process: Process) { paced(.fulfil, process) }

  private func paced(_ kind: PaceLimits.Kind, _ process: Process) {
    let count = process.phone.meter.count(kind, at: now)
    checker.expect(
      .paced, count <= kind.limit,
      "phone \(process.phone.number + 1): \(count) \(kind.words) in a minute")
  }
}
