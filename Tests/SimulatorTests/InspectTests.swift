import CommandTestSupport
import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync
import TestSupport
import Testing

@testable import purchase_simulator

/// `inspect`, by the real binary, on queues of this process.
@Suite struct InspectTests {
  private func inspect(_ arguments: [String]) throws -> CommandResult {
    try CommandResult(of: ["inspect"] + arguments)
  }

  private static let secret = "eyJhbGciOiJFUzI1NiJ9.c2VjcmV0LXByb29m.c2lnbmF0dXJl"

  /// One entry of each state, and a settled one.
  private func fill(_ queue: QueueFile, now: Timestamp) throws {
    for (number, lane) in [(1, Lane.account("alice")), (2, .device), (3, .account("bob")), (4, .device)] {
      let new = NewEntry(
        key: EntryKey(rawValue: "Sandbox/200\(number)"), lane: lane, orderNumber: "A-\(number)",
        details: "private details",
        payloads: [Payload(kind: "signedTransaction", bytes: Array(Self.secret.utf8))]
      )
      _ = try queue.enqueue(new, now: now)
    }
    try queue.recordAttempt([EntryKey(rawValue: "Sandbox/2001")], now: now)
    try queue.postpone(
      EntryKey(rawValue: "Sandbox/2001"), until: now.adding(milliseconds: 60_000), reason: "503", now: now)
    try queue.quarantine(
      EntryKey(rawValue: "Sandbox/2002"), reason: "rejected: \(Self.secret) \u{1B}[31m", now: now)
    try queue.acknowledge(
      [Settlement(key: EntryKey(rawValue: "Sandbox/2003"), outcome: "granted", hasPendingFinish: true)],
      now: now)
  }

  private func withQueue(_ body: (QueueFile) throws -> Void) throws {
    try TemporaryDirectory.with("InspectTests") { directory in
      let now = Timestamp(milliseconds: Timestamp.wallClock().milliseconds - 7_500_000)
      let queue = try QueueFile(path: directory + "/queue.sqlite", now: now)
      try fill(queue, now: now)
      try body(queue)
    }
  }

  @Test func `an open queue is shown completely and without secrets`() throws {
    try withQueue { queue in
      let result = try inspect([queue.path])
      #expect(result.status == 0, "\(result.errors)")
      for part in [
        "place  key", "Sandbox/2001", "account:alice", "A-1", "2 h 5 min", "signedTransaction, 50 bytes",
        "quarantine: 1", "rejected: ", "tombstones: 1, 1 with duties", "finish pending", "granted",
        "queued 2, quarantined 1", "schema 1", "thorough check: clean", "device",
      ] {
        #expect(result.output.contains(part), "\(part) in \(result.output)")
      }
      for line in result.output.split(separator: "\n") { #expect(line.count < 200) }
      for arguments in [[], ["--json"], ["--case", "2002"], ["--order", "A-3", "--json"]] {
        let shown = try inspect([queue.path] + arguments)
        #expect(shown.status == 0)
        for part in [Self.secret, "c2VjcmV0", "private details", "\u{1B}"] {
          #expect(!shown.output.contains(part))
        }
      }
    }
  }

  @Test func `one entry and one order are shown as case files`() throws {
    try withQueue { queue in
      let expected = try queue.caseFile(for: EntryKey(rawValue: "Sandbox/2001"))?.description
      for name in ["2001", "Sandbox/2001"] {
        #expect(try inspect([queue.path, "--case", name]).output == expected.map { $0 + "\n" })
      }
      #expect(try inspect([queue.path, "--order", "A-3"]).output.contains("settled (granted)"))
      let missing = try inspect([queue.path, "--case", "999"])
      #expect(missing.status == 1 && missing.output.isEmpty && missing.errors.contains("has no entry 999"))
    }
  }

  /// The keys that readers of the JSON document rely on.
  private struct Document: Decodable {
    struct Place: Decodable { var place: Int }
    struct Tombstones: Decodable {
      var count: Int
      var newest: [CaseFile]
      var withDuties: [CaseFile]
    }
    struct Check: Decodable { var isClean: Bool }
    struct Cases: Decodable { var caseFiles: [CaseFile] }
    var file: String
    var entries: [CaseFile]
    var tombstones: Tombstones
    var health: QueueHealth
    var check: Check
  }

  @Test func `as JSON it is one document`() throws {
    try withQueue { queue in
      let data = Data(try inspect([queue.path, "--json"]).output.utf8)
      let document = try JSONDecoder().decode(Document.self, from: data)
      #expect(document.file == queue.path)
      #expect(document.entries.map(\.state) == ["queued", "quarantined", "queued"])
      #expect(document.tombstones.count == 1)
      #expect(document.tombstones.newest.map(\.key.rawValue) == ["Sandbox/2003"])
      #expect(document.tombstones.withDuties == document.tombstones.newest)
      #expect(document.health.bytes == 50 && document.health.logBytes > 0 && document.check.isClean)
      let cases = Data(try inspect([queue.path, "--order", "A-1", "--json"]).output.utf8)
      let file = try JSONDecoder().decode(Document.Cases.self, from: cases).caseFiles
      #expect(try file == queue.caseFiles(order: "A-1"))
    }
  }

  @Test func `a bad file and a missing one have different exit codes`() throws {
    try withQueue { queue in
      let missing = try inspect([queue.path + ".absent"])
      #expect(missing.status == 66 && missing.errors.contains("there is no such file"))
      let text = queue.path + ".txt"
      try Data("my shopping list".utf8).write(to: URL(fileURLWithPath: text))
      let foreign = try inspect([text, "--json"])
      #expect(foreign.status == 65 && foreign.output.isEmpty && foreign.errors.contains("not a queue"))
      // The file is marked as damaged, as another process would mark it.
      try Data().write(to: URL(fileURLWithPath: queue.path + "-damage"))
      let damaged = try inspect([queue.path])
      #expect(damaged.status == 65 && damaged.errors.contains("is damaged"))
      #expect(damaged.output.contains("Sandbox/2001"))
    }
  }

  @Test func `the report on a damaged file names what the next opening cannot save`() throws {
    try withQueue { queue in
      try queue.connection.execute("DELETE FROM entries WHERE key='Sandbox/2001'")
      try Data().write(to: URL(fileURLWithPath: queue.path + "-damage"))
      let damaged = try inspect([queue.path])
      #expect(damaged.status == 65 && damaged.output.contains("  will be lost: 1 entries of 3\n"))
      #expect(try inspect([queue.path, "--json"]).output.contains(#""losses" : ["#))
    }
  }

  @Test(arguments: [
    ([], "needs the path"), (["a", "b"], "one file"), (["a", "--jsno"], "did you mean '--json'?"),
    (["a", "--case"], "needs a value"), (["a", "--case", "1", "--order", "2"], "one --case or one --order"),
  ])
  func `the answer to wrong usage says what to type instead`(arguments: [String], part: String) throws {
    let result = try inspect(arguments)
    #expect(result.status == 64)
    #expect(result.errors.contains(part), "\(result.errors)")
  }

  @Test(arguments: [
    (0, "0 s"), (-5_000, "0 s"), (59_999, "59 s"), (61_000, "1 min 1 s"), (90_000_000, "1 d 1 h"),
    (Int64.max, "106751991167 d 7 h"),
  ])
  func `ages are shown in their two largest units`(elapsed: Int64, text: String) {
    #expect(InspectText.age(Timestamp(milliseconds: 0), Timestamp(milliseconds: elapsed)) == text)
  }

  @Test func `the queues that run keeps are listed and can be inspected`() throws {
    let directory = FileManager.default.temporaryDirectory.path + "/InspectTests-" + UUID().uuidString
    defer {
      do {
        try FileManager.default.removeItem(atPath: directory)
      } catch {
        Issue.record(error, "the temporary directory stays behind")
      }
    }
    let run = try CommandResult(of: ["run", "reply-lost", "--keep", directory])
    let path = directory + "/reply-lost-engine/container/queue.sqlite"
    #expect(run.status == 0 && run.output.contains("\n  \(path)\n"))
    let shown = try inspect([path, "--order", "order-1"])
    #expect(shown.status == 0 && shown.output.contains("settled (duplicate)"), "\(shown.output)")
  }
}
