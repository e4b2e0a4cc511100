extension ProtocolStep {
  /// The step in words, with numbers that count from 1.
  package var sentence: String {
    switch self {
    case .paid(let transaction, _, _): "the store charges for \(transaction + 1)"
    case .refunded(let transaction, let isRefunded):
      isRefunded ? "the store refunds \(transaction + 1)" : "the refund of \(transaction + 1) is reversed"
    case .partlyRefunded(let transaction): "the store refunds a part of \(transaction + 1)"
    case .arrives(let transaction, let device): "\(transaction + 1) arrives on device \(device + 1)"
    case .queued(let transaction, let device, let party):
      "device \(device + 1) queues \(transaction + 1) for \(party)"
    case .sends(let request, _, let device, let party, let claims):
      "device \(device + 1) sends request \(request + 1) as \(party) with "
        + claims.map { String($0.transaction + 1) }.joined(separator: ", ")
    case .hears(let request): "the answer to request \(request + 1) is heard"
    case .ends(let request): "request \(request + 1) ends without an answer"
    case .settled(let transaction, let device, let word):
      "device \(device + 1) settles \(transaction + 1) as \(word.rawValue)"
    case .removed(let transaction, let device, let isGivenUp):
      "device \(device + 1) removes the entry of \(transaction + 1)" + (isGivenUp ? ", as support says" : "")
    case .forgotten(let transaction, let device):
      "device \(device + 1) drops the record of \(transaction + 1)"
    case .told(let transaction, let device, let word):
      "the app on device \(device + 1) hears that \(transaction + 1) is \(word.rawValue)"
    case .finishes(let transaction, let device): "device \(device + 1) finishes \(transaction + 1)"
    case .receives(let request): "the backend receives request \(request + 1)"
    case .credited(let transaction, let owner, let request):
      "the backend credits \(transaction + 1) to \(owner)"
        + (request.map { ", by request \($0 + 1)" } ?? ", as the store notifies it")
    case .answers(let request, let verdicts):
      "the backend answers request \(request + 1): "
        + verdicts.map { "\($0.transaction + 1) \($0.word.rawValue)" }.joined(separator: ", ")
    case .finishedByBackend(let transaction): "the backend finishes \(transaction + 1)"
    case .adopted(let device, let account):
      "account \(account + 1) adopts the purchases of device \(device + 1)"
    case .ledgerRestored(let kept): "the ledger is restored, with \(kept.count) lines"
    case .launched(let process, let device, let entries):
      "process \(process + 1) is launched on device \(device + 1), with "
        + (entries.isEmpty
          ? "no entry" : entries.keys.sorted().map { String($0 + 1) }.joined(separator: ", "))
    case .died(let process): "process \(process + 1) dies"
    case .reinstalled(let device): "the app is deleted from device \(device + 1) and installed again"
    case .backedUp(let device): "device \(device + 1) is backed up"
    case .setBack(let device): "device \(device + 1) is set back to its backup"
    case .copied(let device, let other):
      "device \(device + 1) begins with a copy of the file of device \(other + 1)"
    }
  }
}

extension ProtocolStep.Party: CustomStringConvertible {
  package var description: String {
    switch self {
    case .account(let number): "account \(number + 1)"
    case .device(let number): "device \(number + 1)"
    case .question(let number): "a question of account \(number + 1)"
    }
  }
}
