import PurchaseQueue
import PurchaseSync
import Specification

/// What a device commits, and what happens to it.
extension StepJudge {
  mutating func party(_ lane: Lane, of phone: String) -> ProtocolStep.Party {
    if let asker = lane.asker { return .question(accounts[asker]) }
    return lane.account.map { .account(accounts[$0]) } ?? .device(phoneNames[phone])
  }

  mutating func number(_ process: Int32, _ phone: String) -> Int {
    if let known = living[process] { return known.number }
    let known = Process(number: launched, phone: phone)
    launched += 1
    living[process] = known
    return known.number
  }

  mutating func launched(_ process: Int32, _ phone: String, _ change: FileChange) throws(Refusal) {
    let content = change.applied(to: FileWatch.Content())
    // What another process has committed in the meantime, and has not noted.
    if living.contains(where: { $0.key != process && $0.value.phone == phone }) {
      try committed(change, on: phone, mayComeBack: true)
    }
    phones[phone, default: Phone()].content = content
    try took(process, phone)
  }

  /// The process is there, with what its file has.
  mutating func took(_ process: Int32, _ phone: String) throws(Refusal) {
    var entries: [Int: ProtocolStep.Party] = [:]
    for (key, row) in phones[phone]?.content.rows ?? [:] {
      entries[transactions[Self.id(key)]] = party(Lane(rawValue: row.lane), of: phone)
    }
    try take(.launched(number(process, phone), on: phoneNames[phone], holding: entries))
  }

  static func id(_ key: String) -> String { EntryKey(rawValue: key).transactionID }

  /// - Parameter mayComeBack: Whether an entry may have come back from the vault without a line: the launch that found it
  ///   was killed, or is another one than that which notes it.
  mutating func committed(
    _ change: FileChange, on phone: String, mayComeBack: Bool = false
  ) throws(Refusal) {
    let known = phones[phone, default: Phone()].content
    let content = change.applied(to: known)
    var parties: [String: ProtocolStep.Party] = [:]
    for row in content.rows.values { parties[row.lane] = party(Lane(rawValue: row.lane), of: phone) }
    for key in Set(content.rows.keys).union(content.stones.keys).union(known.rows.keys) {
      _ = transactions[Self.id(key)]
    }
    let device = phoneNames[phone]
    let commits = CommitSteps(
      transaction: { [transactions] in transactions.known(Self.id($0)) },
      party: { row in row.flatMap { parties[$0.lane] } ?? .device(device) }, isDiscarded: { _ in false })
    phones[phone]?.content = content
    for step in commits.steps(on: device, from: known, to: content) {
      do throws(Refusal) {
        try take(step)
      } catch {
        guard mayComeBack, case .rule(.queuesDelivered, _) = error else { throw error }
        let process = living.first { $0.value.phone == phone }?.key ?? 0
        try took(process, phone)
      }
    }
  }

  /// Between a commit of a process and its line only a kill can come. So what the file of a killed process has beyond its
  /// lines is taken for its last steps, which have to be allowed like all others.
  mutating func died(
    _ process: Int32, _ wasKilled: Bool, _ phone: String, _ change: FileChange?
  ) throws(Refusal) {
    if let change {
      let before = steps
      try committed(change, on: phone, mayComeBack: wasKilled)
      let isAlone = !living.contains { $0.key != process && $0.value.phone == phone }
      if isAlone, !wasKilled, steps > before {
        throw .noSense("a process of \(phone) ended by itself and has commits that it did not note")
      }
    }
    if let known = living.removeValue(forKey: process) { try take(.died(known.number)) }
  }

  mutating func happened(_ event: StepEvent) throws(Refusal) {
    switch event {
    case .reinstalled(let phone):
      phones[phone]?.content = FileWatch.Content()
      try take(.reinstalled(phoneNames[phone]))
    case .backedUp(let phone):
      let content = phones[phone]?.content ?? FileWatch.Content()
      phones[phone, default: Phone()].backup = content
      try take(.backedUp(phoneNames[phone]))
    case .setBack(let phone):
      let backup = phones[phone]?.backup ?? FileWatch.Content()
      phones[phone]?.content = backup
      try take(.setBack(phoneNames[phone]))
    case .copied(let phone, let other):
      phones[phone] = Phone(content: phones[other]?.content ?? FileWatch.Content())
      try take(.copied(to: phoneNames[phone], from: phoneNames[other]))
    default: return
    }
  }
}
