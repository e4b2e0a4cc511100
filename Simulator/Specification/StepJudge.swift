import CommandLineTools
import Foundation
import PurchaseQueue
import PurchaseSync
import Specification

/// Gives the trace of a run to the specification, line by line.
struct StepJudge {
  /// What the specification says of a run.
  struct Judgement: Sendable, Hashable {
    var steps = 0
    /// The first step that it does not allow, and the rule; nil if it accepts the run.
    var refusal: String?
  }

  struct Process {
    var number: Int
    var phone: String
  }

  /// An upload that the backend has received.
  struct Upload {
    var number: Int
    var phone: String
    var claims: Set<String>
  }

  struct Phone {
    var content = FileWatch.Content()
    var backup: FileWatch.Content?
  }

  enum Refusal: Error {
    case rule(ProtocolRule, ProtocolStep)
    case noSense(String)
  }

  var specification = PurchaseProtocol()
  var steps = 0
  var transactions = Names()
  var accounts = Names()
  var phoneNames = Names()
  var phones: [String: Phone] = [:]
  /// The living processes, by the system's numbers, and how many there were.
  var living: [Int32: Process] = [:]
  var launched = 0
  /// The uploads by their names, those that have arrived in their order, and how many there were.
  var uploads: [String: Upload] = [:]
  var received: [Upload] = []
  var sent = 0
  /// The phones by the names that the backend knows.
  var phoneOf: [String: String] = [:]
  /// The accounts of orders, by their numbers and by their tokens.
  var accountOfOrder: [String: String] = [:]
  var accountOfToken: [UUID: String] = [:]
  var charges: [String: (token: UUID?, original: String, isRefunded: Bool, isPart: Bool)] = [:]
  var ledger: [Int: (transaction: String, owner: ProtocolStep.Party)] = [:]
  /// Of each process that is killed: its last line of its own.
  var lastLines: [Int32: Int] = [:]
  var line = 0

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
  var meaning: String {
    func list(_ names: Names) -> [String] { names.all.enumerated().map { "\($0 + 1) is \($1)" } }
    let parts = [("transaction", transactions), ("account", accounts), ("device", phoneNames)]
      .filter { !$0.1.all.isEmpty }
    return parts.map { "\n    \($0): " + list($1).suffix(8).joined(separator: ", ") }.joined()
  }

  /// Gives a step to the specification.
  mutating func take(_ step: ProtocolStep) throws(Refusal) {
    steps += 1
    do throws(ProtocolRule) {
      try specification.take(step)
    } catch {
      throw .rule(error, step)
    }
  }

  mutating func take(_ line: StepLine) throws(Refusal) {
    switch line.event {
    case .launched(let phone, let change): try launched(line.by, phone, change)
    case .committed(let phone, let change): try committed(change, on: phone)
    case .died(let process, let wasKilled, let phone, let change):
      try died(process, wasKilled, phone, change)
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

  static func word(_ verdict: String) -> ProtocolStep.Word {
    ProtocolStep.Word(Verdict(rawValue: verdict))
  }

  func upload(_ name: String) throws(Refusal) -> Upload {
    guard let upload = uploads[name] else { throw .noSense("the request \(name) was not sent") }
    return upload
  }
}

/// Numbers for names, from 0, in the order in which they occur.
struct Names {
  private(set) var all: [String] = []
  var numbers: [String: Int] = [:]

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
