import Foundation
import PurchaseQueue
import Testing

/// Texts from outside are bounded in bytes: one character can take megabytes.
@Suite struct TextBoundsTests {
  /// One character of two million scalars.
  private static let oneCharacter = "e" + String(repeating: "\u{301}", count: 2_000_000)

  private static let texts = [
    oneCharacter, String(repeating: "👩‍👩‍👧‍👦", count: 5_000), String(repeating: "x ", count: 1_000_000),
    String(repeating: "\u{2028}", count: 1_000), String(repeating: "漢", count: 67), "",
  ]

  /// By its index: the runner would print megabytes.
  @Test(arguments: texts.indices)
  func `a line has at most 200 bytes, whatever its characters take`(index: Int) {
    let text = Self.texts[index]
    let line = Redaction.line(text)
    #expect(line.utf8.count <= 200)
    #expect(!line.unicodeScalars.contains { $0.value < 32 || $0.value == 0x2028 })
    if text.utf8.count <= 200 { #expect(line == text) }
  }

  @Test func `a reason of one endless character leaves a small entry, tombstone and case file`() async throws
  {
    try await withTemporaryDirectory { directory in
      let queue = try QueueFile(path: directory + "/q", now: noon)
      _ = try queue.enqueue(entry("a"), now: noon)
      for second in 0..<40 {
        let later = noon.adding(milliseconds: Int64(second))
        try queue.postpone(key("a"), until: later, reason: "\(second)" + Self.oneCharacter, now: noon)
      }
      try queue.quarantine(key("a"), reason: Self.oneCharacter, now: noon)
      let entry = try #require(try queue.entry(key("a")))
      #expect((entry.reason ?? "").utf8.count <= 200)
      #expect(entry.history.events.count == 32)
      #expect(entry.history.events.allSatisfy { $0.what.utf8.count <= 200 })
      #expect(try #require(try queue.caseFile(for: key("a"))).description.utf8.count < 12_000)
      try queue.discard(key("a"), by: Self.oneCharacter, reason: Self.oneCharacter, now: noon)
      #expect(try #require(try queue.caseFile(for: key("a"))).description.utf8.count < 12_000)
      let health = try queue.health()
      #expect(health.fileBytes + health.logBytes < 2_000_000)
    }
  }

  @Test(arguments: ["outcome", "order", "reservation", "kinds", "kinds one by one"])
  func `a text that passes the limit is refused and changes nothing`(what: String) async throws {
    try await withTemporaryDirectory { directory in
      let queue = try QueueFile(path: directory + "/q", now: noon)
      _ = try queue.enqueue(entry("a"), now: noon)
      let long = String(repeating: "x", count: 20_000)
      let before = (try queue.allEntries(), try queue.health().reserved)
      let kinds = (0..<40).map { Payload(kind: "kind \($0)", bytes: [1]) }
      #expect(throws: QueueError.self) {
        switch what {
        case "outcome": try queue.acknowledge([Settlement(key: key("a"), outcome: long)], now: noon)
        case "order": try queue.acknowledge([Settlement(key: key("a"), orderNumber: long)], now: noon)
        case "reservation": try queue.reserve(long, until: noon, now: noon)
        case "kinds":
          _ = try queue.enqueue(NewEntry(key: key("b"), lane: .device, payloads: kinds), now: noon)
        default:
          let all = kinds.prefix(QueueLimits.payloadsOfAnEntry - 1)
          _ = try queue.enqueue(NewEntry(key: key("a"), lane: .device, payloads: Array(all)), now: noon)
          let one = Array(kinds.suffix(1))
          _ = try queue.enqueue(NewEntry(key: key("a"), lane: .device, payloads: one), now: noon)
        }
      }
      if what != "kinds one by one" { #expect(try queue.allEntries() == before.0) }
      #expect(try queue.allEntries().allSatisfy { $0.payloads.count <= QueueLimits.payloadsOfAnEntry })
      #expect(try queue.health().reserved == before.1)
    }
  }
}
