import PurchaseQueue
import PurchaseSync
import Specification

/// Requests, and what the store and the backend do.
extension StepJudge {
  // MARK: Requests

  mutating func sends(
    _ name: String, _ process: Int32, _ phone: String, _ lane: Lane, _ claims: [StepClaim]
  ) throws(Refusal) {
    let upload = Upload(number: sent, phone: phone, claims: Set(claims.map(\.transaction)))
    sent += 1
    uploads[name] = upload
    var made: [ProtocolStep.Claim] = []
    for claim in claims {
      made.append(
        ProtocolStep.Claim(
          transaction: transactions[claim.transaction], isProven: claim.isProven,
          tellsToken: claim.tellsToken,
          accounts: claim.orders.compactMap { accountOfOrder[$0] }.map { accounts[$0] }))
    }
    let step = ProtocolStep.sends(
      upload.number, by: number(process, phone), on: phoneNames[phone], as: party(lane, of: phone), made)
    do throws(Refusal) {
      try take(step)
    } catch {
      guard case .rule(.oneInFlight, _) = error, try endKilled(beside: process, on: phone) else {
        throw error
      }
      try take(step)
    }
  }

  /// Another process of the phone may be dead already, although its parent has not noted it: nothing comes of it any more
  /// but the line of its kill.
  mutating func endKilled(beside process: Int32, on phone: String) throws(Refusal) -> Bool {
    var found = false
    for (other, known) in living where other != process && known.phone == phone {
      guard let last = lastLines[other], last < line else { continue }
      living[other] = nil
      try take(.died(known.number))
      found = true
    }
    return found
  }

  // MARK: Store and backend

  mutating func took(_ event: StepEvent) throws(Refusal) {
    switch event {
    case .paid(let id, let token, let original):
      charges[id] = (token, original, charges[id]?.isRefunded ?? false, charges[id]?.isPart ?? false)
      try paid(id)
    case .refunded(let id, let isRefunded):
      charges[id]?.isRefunded = isRefunded
      charges[id]?.isPart = false
      try take(.refunded(transactions[id], isRefunded))
    case .partlyRefunded(let id):
      charges[id]?.isRefunded = false
      charges[id]?.isPart = true
      try take(.partlyRefunded(transactions[id]))
    case .ordered(let number, let token, let account):
      guard accountOfOrder.updateValue(account, forKey: number) == nil else { return }
      accountOfToken[token] = account
      // A device may have made the order, and the store may have charged for it before.
      for (id, charge) in charges where charge.token == token { try paid(id) }
    case .receives(let name):
      let upload = try upload(name)
      received.append(upload)
      try take(.receives(upload.number))
    case .answers(let name, let verdicts):
      var words: [(transaction: Int, word: ProtocolStep.Word)] = []
      for verdict in verdicts {
        words.append((transactions[verdict.transaction], Self.word(verdict.verdict)))
      }
      try take(.answers(try upload(name).number, words))
    case .credited(let place, let id, let owner): try credited(place, id, owner)
    case .finishedByBackend(let id): try take(.finishedByBackend(transactions[id]))
    case .adopted(let device, let account):
      guard let phone = phoneOf[device] else { throw .noSense("no device is named \(device)") }
      try take(.adopted(device: phoneNames[phone], by: accounts[account]))
    case .ledgerRestored(let lines):
      ledger = ledger.filter { $0.key < lines }
      var kept: [Int] = []
      for line in ledger.values { kept.append(transactions[line.transaction]) }
      try take(.ledgerRestored(kept))
    default: return
    }
  }

  mutating func paid(_ id: String) throws(Refusal) {
    guard let charge = charges[id] else { return }
    let account = charge.token.flatMap { accountOfToken[$0] }.map { accounts[$0] }
    try take(.paid(transactions[id], for: account, original: transactions[charge.original]))
    if charge.isRefunded { try take(.refunded(transactions[id], true)) }
    if charge.isPart { try take(.partlyRefunded(transactions[id])) }
  }

  /// A line of the ledger names no request. One that has arrived and claims the transaction made it; without one, the
  /// store has reported it.
  mutating func credited(_ place: Int, _ id: String, _ name: String) throws(Refusal) {
    let owner: ProtocolStep.Party
    if let account = Lane(rawValue: name).account {
      owner = .account(accounts[account])
    } else if let phone = phoneOf[name] {
      owner = .device(phoneNames[phone])
    } else {
      throw .noSense("no device is named \(name)")
    }
    // A new process of the backend says what it finds.
    if let known = ledger[place], known.transaction == id, known.owner == owner { return }
    ledger[place] = (id, owner)
    let transaction = transactions[id]
    var refusal: Refusal?
    for upload in received where upload.claims.contains(id) {
      do throws(Refusal) {
        return try take(.credited(transaction, to: owner, upload.number))
      } catch {
        refusal = refusal ?? error
      }
    }
    if let refusal { throw refusal }
    try take(.credited(transaction, to: owner, nil))
  }
}
