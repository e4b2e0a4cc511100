import Foundation
import Testing

@testable import PurchaseQueue

@Suite struct CaseFileTests {
  @Test func `a history that is too long by several events loses them all with the next one`() {
    var history = History(text: (1...40).map { "\($0) event \($0)" }.joined(separator: "\n"))
    history.append("the last", at: noon)
    #expect(history.events.count == 32)
    #expect(history.events.map(\.what).suffix(2) == ["event 40", "the last"])
  }

  private static let uuid = "8D4F1C1E-9C2B-4B7E-9A57-3C0E6E1F2A11"
  private static let jws = "eyJhbGciOiJFUzI1NiJ9.eyJ0cmFuc2FjdGlvbklkIjoiMjAwMCJ9.c2lnbmF0dXJl"

  @Test func `a case file tells the events of an entry and no secret`() async throws {
    try await withTemporaryDirectory { directory in
      let queue = try QueueFile(path: directory + "/q", now: noon)
      var new = entry("Production/2000000123", order: "A-17")
      new.details = "token \(Self.uuid)"
      new.payloads = [Payload(kind: "signedTransaction", bytes: Array(Self.jws.utf8))]
      _ = try queue.enqueue(new, now: noon)
      try queue.recordAttempt([new.key], now: noon.adding(milliseconds: 1_000))
      try queue.postpone(
        new.key, until: noon.adding(milliseconds: 60_000), reason: "HTTP 503 \(Self.jws)", now: noon)
      try queue.quarantine(new.key, reason: "rejected \(Self.uuid) as forged", now: noon)
      let file = try #require(try queue.caseFile(for: new.key))
      let text = file.description + String(decoding: try JSONEncoder().encode(file), as: UTF8.self)
      for part in ["Production/2000000123", "A-17", "account:alice", "attempt 1", "HTTP 503", "as forged"] {
        #expect(text.contains(part), "\(part)")
      }
      for secret in [Self.uuid, Self.jws, "eyJ", "c2lnbmF0dXJl"] { #expect(!text.contains(secret)) }
      #expect(file.state == "quarantined" && file.attempts == 1)
      #expect(try JSONDecoder().decode(CaseFile.self, from: JSONEncoder().encode(file)) == file)
    }
  }

  @Test func `the tombstone of a discarded entry says by whom and why`() async throws {
    try await withTemporaryDirectory { directory in
      let queue = try QueueFile(path: directory + "/q", now: noon)
      let new = entry("a", order: "7")
      _ = try queue.enqueue(new, now: noon)
      #expect(try queue.discard(EntryKey(rawValue: "b"), by: "kim", reason: "x", now: noon) == nil)
      try queue.discard(new.key, by: "kim@support", reason: "refunded by hand", now: noon)
      let reopened = try QueueFile(path: directory + "/q", now: noon)
      let files = try reopened.caseFiles(order: "7")
      #expect(files.map(\.outcome) == ["discarded"])
      #expect(files.first?.history.last?.what == "discarded by kim@support: refunded by hand")
      #expect(try reopened.caseFile(for: EntryKey(rawValue: "b")) == nil)
    }
  }

  @Test func `a discarded update leaves the earlier outcome to the app`() async throws {
    try await withTemporaryDirectory { directory in
      let queue = try QueueFile(path: directory + "/q", now: noon)
      let new = entry("a", order: "7")
      _ = try queue.enqueue(new, now: noon)
      try queue.acknowledge(
        [Settlement(key: new.key, outcome: "granted", hasPendingFinish: true, isUnconfirmed: true)], now: noon
      )
      var update = new
      update.isUpdate = true
      _ = try queue.enqueue(update, now: noon)
      try queue.discard(new.key, by: "kim", reason: "not worth it", now: noon)
      let tombstone = try #require(try queue.tombstone(new.key))
      #expect(tombstone.outcome == "granted" && tombstone.isUnconfirmed && tombstone.isFinishPending)
      #expect(try queue.caseFile(for: new.key)?.history.last?.what == "discarded by kim: not worth it")
    }
  }

  @Test func `the last 32 events are kept, each in one short line`() async throws {
    try await withTemporaryDirectory { directory in
      let queue = try QueueFile(path: directory + "/q", now: noon)
      let new = entry("a")
      _ = try queue.enqueue(new, now: noon)
      for _ in 0..<40 { try queue.recordAttempt([new.key], now: noon) }
      let reason = "line\nbreak " + String(repeating: "long ", count: 100)
      try queue.postpone(new.key, until: noon, reason: reason, now: noon)
      let events = try #require(try queue.entry(new.key)).history.events
      #expect(events.count == History.capacity)
      #expect(events.first?.what == "attempt 10")
      let last = try #require(events.last?.what)
      #expect(last.count <= 200 && !last.contains("\n"))
    }
  }

  @Test(arguments: [
    ("plain words stay", "plain words stay"),
    ("id 2000000123456789 stays", "id 2000000123456789 stays"),
    ("token abcdefghijklmnopqrstuvwxyz012345", "token [32 characters blanked]"),
    ("with Bearer hunter2 refused", "with Bearer [blanked] refused"),
    ("bearer abc123", "bearer [blanked]"),
    ("Bearer: abc123", "Bearer: [blanked]"),
    ("BEARER\tabc123", "BEARER [blanked]"),
    ("Bearer  \"abc123\"", "Bearer  \"[blanked]\""),
    ("Basic YTpi==, and more", "Basic [blanked]==, and more"),
    ("Auth=Bearer=abc123", "Auth=Bearer=[blanked]"),
    ("Authorization: abc 123; more", "Authorization: [blanked] [blanked]; more"),
    ("Cookie: a=b, c", "Cookie: [blanked]=[blanked], c"),
    (#"{"access_token":"abc","code":7}"#, #"{"access_token":"[blanked]","code":7}"#),
    ("token=abc&x=1", "token=[blanked]&x=1"),
    ("password: hunter2", "password: [blanked]"),
    ("the token is not valid", "the token is not valid"),
    ("the token is not valid: bearer abc", "the token is not valid: bearer [blanked]"),
    ("token=Bearer abc", "token=Bearer [blanked]"),
    ("a\u{7}b\nc", "a b c"),
  ])
  func `free text loses what looks like a secret`(text: String, expected: String) {
    #expect(Redaction.line(text) == expected)
  }

  @Test func `a secret that is cut off in the middle does not show its beginning`() {
    let text = String(repeating: "x", count: 790) + " " + String(repeating: "s", count: 100)
    #expect(!Redaction.line(text).contains("ss"))
  }

  @Test(
    arguments: [
      (0, "1970-01-01T00:00:00Z"), (-1, "1969-12-31T23:59:59Z"), (951_782_400_000, "2000-02-29T00:00:00Z"),
      (1_700_000_000_000, "2023-11-14T22:13:20Z"), (4_102_444_799_999, "2099-12-31T23:59:59Z"),
      (-62_135_769_600_000, "0000-12-30T00:00:00Z"), (-30_610_224_000_001, "0999-12-31T23:59:59Z"),
      (.max, "292278994-08-17T07:12:55Z"), (.min, "-292275055-05-16T16:47:04Z"),
    ] as [(Int64, String)])
  func `a moment reads as a date`(milliseconds: Int64, text: String) {
    #expect(Timestamp(milliseconds: milliseconds).utc == text)
  }
}
