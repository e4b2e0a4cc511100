import PurchaseQueue
import Testing

/// An acknowledgement names the payloads that were sent. What came later stays queued.
@Suite struct LostUpdateTests {
  private func new(_ payloads: [(kind: String, text: String)]) -> NewEntry {
    NewEntry(
      key: key("doc"), lane: .device,
      payloads: payloads.map { Payload(kind: $0.kind, bytes: Array($0.text.utf8)) })
  }

  private func texts(_ queue: QueueFile) throws -> [String] {
    let entry = try #require(try queue.entry(key("doc")))
    return try entry.payloads.map {
      try String(decoding: #require(try queue.payload($0)).bytes, as: UTF8.self)
    }
  }

  @Test(arguments: [false, true])
  func `a payload that came during the send stays queued, in its place`(hasVault: Bool) async throws {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory, hasVault: hasVault)
      let queue = try site.open()
      _ = try queue.enqueue(new([("body", "v1"), ("head", "h1")]), now: noon)
      _ = try queue.enqueue(entry("other", lane: .device), now: noon)
      let sent = try #require(try queue.nextReady(now: noon))
      try queue.recordAttempt([sent.key], now: noon)
      _ = try queue.enqueue(new([("body", "v2")]), now: noon)
      #expect(try queue.acknowledge([Settlement(sent, hasPendingFinish: true)], now: noon).isEmpty)
      #expect(try queue.tombstone(sent.key) == nil)
      #expect(try texts(queue) == ["v2"])
      let left = try #require(try queue.nextReady(now: noon))
      #expect(left.place == sent.place && left.attempts == 1)
      #expect(left.history.events.last?.what == "acknowledged; a newer payload stays")
      #expect(try queue.health().bytes == 102)
      // The file and the vault say the same.
      #expect(try texts(site.open()) == ["v2"])
      if hasVault {
        let fresh = try QueueFile(path: directory + "/fresh", vault: site.vault, now: noon)
        #expect(try texts(fresh) == ["v2"])
        #expect(try site.vault?.list().count == 4)
      }
      #expect(
        try queue.acknowledge([Settlement(left, hasPendingFinish: true)], now: noon).map(\.key) == [sent.key])
      #expect(try queue.count() == 1)
      #expect(try queue.health().bytes == 100)
      #expect(try QueueCheck.run(path: queue.path).isClean)
    }
  }

  @Test func `a redelivery of the same payload during the send changes nothing`() async throws {
    try await withTemporaryDirectory { directory in
      let queue = try QueueFile(path: directory + "/q", now: noon)
      _ = try queue.enqueue(new([("body", "v1")]), now: noon)
      let sent = try #require(try queue.nextReady(now: noon))
      _ = try queue.enqueue(new([("body", "v1")]), now: noon)
      #expect(try queue.acknowledge([Settlement(sent)], now: noon).count == 1)
      #expect(try queue.count() == 0)
    }
  }

  @Test func `the asynchronous queue delivers both versions of a changed entry`() async throws {
    try await withTemporaryDirectory { directory in
      let queue = try await DurableQueue.open(path: directory + "/q")
      var delivered: [String] = []
      try await queue.enqueue(new([("body", "v1")]))
      while let entry = try await queue.read({ try $0.nextReady() }) {
        try await queue.write { try $0.recordAttempt([entry.key]) }
        let payload = try #require(try await queue.read { try $0.payload(entry.payloads[0]) })
        delivered.append(String(decoding: payload.bytes, as: UTF8.self))
        if delivered.count == 1 { try await queue.enqueue(new([("body", "v2")])) }
        try await queue.acknowledge([Settlement(entry)])
      }
      #expect(delivered == ["v1", "v2"])
      #expect(try await queue.read { try $0.tombstone(key("doc")) }?.attempts == 2)
      try await queue.close()
    }
  }
}
