import Foundation
import Specification

/// One line of the trace of a run: what a process saw or did, in the words of that process. `TraceJudge` makes steps of
/// the protocol of them.
struct StepLine: Codable {
  /// The process, by the system's number.
  var by: Int32
  var event: StepEvent
}

/// Transactions are named by the store's ids, parties by their lanes.
enum StepEvent: Codable {
  // MARK: Store and backend

  case paid(String, token: UUID?, original: String)
  case refunded(String, Bool)
  case partlyRefunded(String)
  case ordered(number: String, token: UUID, account: String)
  case receives(String)
  case credited(sequence: Int, String, owner: String)
  case answers(String, [StepVerdict])
  case finishedByBackend(String)
  case adopted(device: String, account: String)
  /// The ledger is that of a backup, with its first so many lines.
  case ledgerRestored(lines: Int)

  // MARK: A device

  case launched(phone: String, FileChange)
  case committed(phone: String, FileChange)
  case arrives([String], phone: String)
  /// The name by which the backend knows a phone.
  case named(phone: String, device: String)
  case sends(String, phone: String, lane: String, [StepClaim])
  case hears(String)
  case ends(String)
  case finishes([String], phone: String)
  case told(String, phone: String, verdict: String)

  // MARK: What happens to devices

  /// The process has ended. The parent has read its file since.
  case died(Int32, wasKilled: Bool, phone: String, FileChange?)
  /// A process of the backend was killed.
  case killed(Int32)
  case reinstalled(phone: String)
  case backedUp(phone: String)
  case setBack(phone: String)
  case copied(to: String, from: String)
}

struct StepVerdict: Codable {
  var transaction: String
  var verdict: String
}

struct StepClaim: Codable {
  var transaction: String
  var isProven: Bool
  var tellsToken: Bool
  /// The numbers of the orders that it names.
  var orders: [String]
}

/// What has changed in a queue's file since a process last read it.
struct FileChange: Codable {
  struct Row: Codable {
    var place: Int64
    var lane: String
  }

  /// Nothing was known before: what is not in it is not in the file.
  var isWhole: Bool
  /// By key; nil where there is no entry any more.
  var rows: [String: Row?] = [:]
  /// The outcomes of settled entries, by key; nil where there is no record any more.
  var outcomes: [String: String?] = [:]

  /// Everything.
  init(all content: FileWatch.Content) {
    self.init(from: FileWatch.Content(), to: content)
    isWhole = true
  }

  init(from known: FileWatch.Content, to content: FileWatch.Content) {
    isWhole = false
    for (key, row) in content.rows
    where known.rows[key].map({ ($0.place, $0.lane) != (row.place, row.lane) }) ?? true {
      rows[key] = .some(Row(place: row.place, lane: row.lane))
    }
    for key in known.rows.keys where content.rows[key] == nil { rows[key] = .some(nil) }
    for (key, stone) in content.stones where known.stones[key]?.outcome != stone.outcome {
      outcomes[key] = .some(stone.outcome)
    }
    for key in known.stones.keys where content.stones[key] == nil { outcomes[key] = .some(nil) }
  }

  var isEmpty: Bool { rows.isEmpty && outcomes.isEmpty }

  func applied(to known: FileWatch.Content) -> FileWatch.Content {
    var content = isWhole ? FileWatch.Content() : known
    for (key, row) in rows { content.rows[key] = row.map { FileWatch.Row(place: $0.place, lane: $0.lane) } }
    for (key, outcome) in outcomes { content.stones[key] = outcome.map { FileWatch.Stone(outcome: $0) } }
    return content
  }
}
