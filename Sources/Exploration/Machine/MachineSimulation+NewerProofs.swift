import PurchaseQueue
import PurchaseSync

/// A proof that comes during an upload, from another process of the phone.
extension MachineSimulation {
  /// While a transaction is sent, the store hands it to the other process of the phone, signed again. Which ones
  /// follows from their numbers: no random number is drawn for it.
  func redeliverElsewhere(_ number: Int) {
    let upload = uploads[number]
    guard
      let other = processes.first(where: {
        $0.number != upload.process && $0.isAlive && $0.phone.number == upload.phone
      }), let sale = upload.claims.first?.sale, sale % 3 == 1, store.sales[sale].isListed,
      store.sales[sale].proofs != .receipt
    else { return }
    note(.isHandedAnew, of: sale)
    store.resign(sale)
    list(other)
  }

  /// The claims of an upload whose signed transaction was replaced by another process since it was sent. What the store
  /// delivered to the sender itself is compared with what was settled: it need not be news.
  func newerProofs(_ upload: Upload, _ process: Process) -> [Int] {
    var newer: [Int] = []
    for (claim, version) in zip(upload.claims, upload.versions) {
      let row = process.phone.shadow.row(claim.sale)
      guard row.state != .none, row.version > version else { continue }
      if !process.storage.arrived.contains(claim.sale) { newer.append(claim.sale) }
    }
    return newer
  }

  /// Those that the answer has settled have an update, queued or pending.
  func checkNewerProofs(_ sales: [Int], _ process: Process) {
    guard process.isAlive, !process.storage.hasStruck else { return }
    let shadow = process.phone.shadow
    for sale in sales where shadow.given.contains(where: { $0.sale == sale && $0.verdict.isSettled }) {
      checker.expect(
        .newerProof, shadow.row(sale).state != .none || shadow.pendingUpdates.contains(sale),
        "\(Names.id(sale)) is settled, and the proof that came during its upload is gone")
    }
  }
}
