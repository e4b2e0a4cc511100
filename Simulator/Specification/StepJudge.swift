import Exploration
import Foundation
import PurchaseQueue
import PurchaseSync

/// Gives the trace of a run to the specification, line by line.
struct StepJudge {
  /// What the specification says of a run.
  struct Judgement: Sendable, Hashable {
    var steps = 0
    /// The first step that it does not allow, and the rule; nil if it accepts the run.
    var refusal: String?
  }

  private struct Process {
    var number: Int
    var phone: String
  }

  /// An upload that the backend has received.
  private struct Upload {
    var number: Int
    var phone: String
    var claims: Set<String>
  }

  private struct Phone {
    var content = FileWatch.Content()
    var backup: FileWatch.Content?
  }

  private enum Refusal: Error {
    case rule(ProtocolRule, ProtocolStep)
    case noSense(String)
  }

  private var specification = PurchaseProtocol()
  private var steps = 0
  private var transactions = Names()
  private var accounts = Names()
  private var phoneNames = Names()
  private var phones: [String: Phone] = [:]
  /// The living processes, by the system's numbers, and how many there were.
  private var living: [Int32: Process] = [:]
  private var launched = 0
  /// The uploads by their names, those that have arrived in their order, and how many there were.
  private var uploads: [String: Upload] = [:]
  private var received: [Upload] = []
  private var sent = 0
  /// The phones by the names that the backend knows.
  private var phoneOf: [String: String] = [:]
  /// The accounts of orders, by their numbers and by their tokens.
  private var accountOfOrder: [String: String] = [:]
  private var accountOfToken: [UUID: String] = [:]
  private var charges: [String: (token: UUID?, original: String, isRefunded: Bool)] = [:]
  private var ledger: [Int: (transaction: String, owner: ProtocolStep.Party)] = [:]
  /// Of each process that is killed: its last line of its own.
  private var lastLines: [Int32: Int] = [:]
  private var line = 0

  static func judge(_ lines: [String]) -> Judgement {
    var judge = StepJudge()
    do {
      for read in try judge.read(lines) {
        judge.line = read.number
        try judge.take(read.line)
      }
      return Judgement(steps: judge.steps)
    } catch {
      let place = "line \(judge.line) of its trace"
      let words =
        switch error {
        case .rule(let rule, let step): "\(step.sentence). Refused: \(rule.rawValue) (\(place))"
        case .noSense(let text): "\(text) (\(place))"
        }
      return Judgement(steps: judge.steps, refusal: words + judge.meaning)
    }
  }

  /// What the numbers in the words stand for.
  private var meaning: String {
    func list(_ names: Names) -> [String] { names.all.enumerated().map { "\($0 + 1) is \($1)" } }
    let parts = [("transaction", transactions), ("account", accounts), ("device", phoneNames)]
      .filter { !$0.1.all.isEmpty }
    return parts.map { "\n    \($0): " + list($1).suffix(8).joined(separator: ", ") }.joined()
  }

  /// Decodes all lines. A kill may cut one line of its process off.
  private mutating func read(_ texts: [String]) throws(Refusal) -> [(number: Int, line: StepLine)] {
    let decoder = JSONDecoder()
    var lines: [(number: Int, line: StepLine)] = []
    var torn: [Int] = []
    var kills = 0
    for (place, text) in texts.enumerated() {
      do {
        let line = try decoder.decode(StepLine.self, from: Data(text.utf8))
        lines.append((place + 1, line))
        if case .died(let process, true, _, _) = line.event {
          kills += 1
          lastLines[process] = lines.last { $0.line.by == process }?.number ?? 0
        }
        if case .killed = line.event { kills += 1 }
      } catch {
        torn.append(place + 1)
      }
    }
    guard torn.count <= kills else {
      line = torn[0]
      throw .noSense("'\(texts[torn[0] - 1].prefix(60))' is no line of a trace")
    }
    return lines
  }

  /// Gives a step to the specification.
  private mutating func take(_ step: ProtocolStep) throws(Refusal) {
    steps += 1
    do throws(ProtocolRule) {
      try specification.take(step)
    } catch {
      throw .rule(error, step)
    }
  }

  private mutating func take(_ line: StepLine) throws(Refusal) {
    switch line.event {
    case .launched(let phone, let change): try launched(line.by, phone, change)
    case .committed(let phone, let change): try committed(change, on: phone)
    case .died(let process, _, let phone, let change): try died(process, phone, change)
    case .sends(let name, let phone, let lane, let claims):
      try sends(name, line.by, phone, Lane(rawValue: lane), claims)
    case .hears(let name): try take(.hears(try upload(name).number))
    case .ends(let name): try take(.ends(try upload(name).number))
    case .arrives(let ids, let phone):
      for id in ids { try take(.arrives(transactions[id], at: phoneNames[phone])) }
    case .finishes(let ids, let phone):
      for id in ids { try take(.finishes(transactions[id], by: phoneNames[phone])) }
    case .told(let id, let phone, let verdict):
      try take(.told(transactions[id], on: phoneNames[phone], Self.word(verdict)))
    case .named(let phone, let device): phoneOf[device] = phone
    case .reinstalled, .backedUp, .setBack, .copied: try happened(line.event)
    default: try took(line.event)
    }
  }

  private static func word(_ verdict: String) -> ProtocolStep.Word {
    ProtocolStep.Word(Verdict(rawValue: verdict))
  }

  private func upload(_ name: String) throws(Refusal) -> Upload {
    guard let upload = uploads[name] else { throw .noSense("the request \(name) was not sent") }
    return upload
  }

  // MARK: Devices

  private mutating func party(_ lane: Lane, of phone: String) -> ProtocolStep.Party {
    if let asker = lane.asker { return .question(accounts[asker]) }
    return lane.account.map { .account(accounts[$0]) } ?? .device(phoneNames[phone])
  }

  private mutating func number(_ process: Int32, _ phone: String) -> Int {
    if let known = living[process] { return known.number }
    launched += 1
    living[process] = Process(number: launched, phone: phone)
    return launched
  }

  private mutating func launched(_ process: Int32, _ phone: String, _ change: FileChange) throws(Refusal) {
    let content = change.applied(to: FileWatch.Content())
    // What another process has committed meanwhile, and has not noted.
    if living.contains(where: { $0.key != process && $0.value.phone == phone }) {
      try committed(change, on: phone, mayComeBack: true)
    }
    phones[phone, default: Phone()].content = content
    try took(process, phone)
  }

  /// The process is there, with what its file has.
  private mutating func took(_ process: Int32, _ phone: String) throws(Refusal) {
    var entries: [Int: ProtocolStep.Party] = [:]
    for (key, row) in phones[phone]?.content.rows ?? [:] {
      entries[transactions[Self.id(key)]] = party(Lane(rawValue: row.lane), of: phone)
    }
    try take(.launched(number(process, phone), on: phoneNames[phone], holding: entries))
  }

  private static func id(_ key: String) -> String { EntryKey(rawValue: key).transactionID }

  /// - Parameter mayComeBack: Whether an entry may have come back from the vault without a line: the launch that found it
  ///   was killed, or is another one than that which notes it.
  private mutating func committed(
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

  private mutating func died(_ process: Int32, _ phone: String, _ change: FileChange?) throws(Refusal) {
    if let change { try committed(change, on: phone, mayComeBack: true) }
    if let known = living.removeValue(forKey: process) { try take(.died(known.number)) }
  }

  private mutating func happened(_ event: StepEvent) throws(Refusal) {
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

  // MARK: Requests

  private mutating func sends(
    _ name: String, _ process: Int32, _ phone: String, _ lane: Lane, _ claims: [StepClaim]
  ) throws(Refusal) {
    sent += 1
    let upload = Upload(number: sent, phone: phone, claims: Set(claims.map(\.transaction)))
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
  private mutating func endKilled(beside process: Int32, on phone: String) throws(Refusal) -> Bool {
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

  private mutating func took(_ event: StepEvent) throws(Refusal) {
    switch event {
    case .paid(let id, let token, let original):
      charges[id] = (token, original, charges[id]?.isRefunded ?? false)
      try paid(id)
    case .refunded(let id, let isRefunded):
      charges[id]?.isRefunded = isRefunded
      try take(.refunded(transactions[id], isRefunded))
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

  private mutating func paid(_ id: String) throws(Refusal) {
    guard let charge = charges[id] else { return }
    let account = charge.token.flatMap { accountOfToken[$0] }.map { accounts[$0] }
    try take(.paid(transactions[id], for: account, original: transactions[charge.original]))
    if charge.isRefunded { try take(.refunded(transactions[id], true)) }
  }

  /// A line of the ledger names no request. One that has arrived and claims the transaction made it; without one, the
  /// store has told of it.
  private mutating func credited(_ place: Int, _ id: String, _ name: String) throws(Refusal) {
    let owner: ProtocolStep.Party
    if let account = Lane(rawValue: name).account {
      owner = .account(accounts[account])
    } else if let phone = phoneOf[name] {
      owner = .device(phoneNames[phone])
    } else {
      throw .noSense("no device is named \(name)")
    }
    // A new process of the backend tells what it finds.
    if let known = ledger[place], known.transaction == id, known.owner == owner { return }
    ledger[place] = (id, owner)
    let transaction = transactions[id]
    var refusal: Refusal?
    for upload in received.reversed() where upload.claims.contains(id) {
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

/// Numbers for names, from 0, in the order in which they occur.
private struct Names {
  private(set) var all: [String] = []
  private var numbers: [String: Int] = [:]

  subscript(_ name: String) -> Int {
    mutating get {
      if let number = numbers[name] { return number }
      numbers[name] = all.count
      all.append(name)
      return all.count - 1
    }
  }

  /// The number of a name that has one.
  func known(_ name: String) -> Int { numbers[name] ?? -1 }
}
