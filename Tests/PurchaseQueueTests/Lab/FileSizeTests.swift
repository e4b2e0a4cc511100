import PurchaseSQLite
import TestSupport
import Testing

@testable import PurchaseQueue

/// The file's largest size follows from the limits, and a caller that does its worst does not pass it.
@Suite struct FileSizeTests {
  /// As hostile as a backend, a store and a caller can be: long texts in every place, keys in every order, entries that
  /// come back, quarantine, duties that stay.
  private struct Hostile {
    var random = RandomSource(seed: 1)
    let limits: QueueLimits
    private let letters: [String]

    init(_ limits: QueueLimits) {
      self.limits = limits
      letters = ["x", "é", "漢", "👩‍👩‍👧‍👦", "e" + String(repeating: "\u{301}", count: 400)]
    }

    mutating func text(_ bytes: Int) -> String {
      let letter = letters[random.below(letters.count)]
      return String(repeating: letter, count: bytes / letter.utf8.count + 1).prefix(bytes: bytes)
    }

    mutating func entry(_ number: Int) -> NewEntry {
      let short = random.below(2) == 0
      let name = "\(random.below(1_000_000))-\(number)"
      let payloads = (0..<random.below(3)).map { kind in
        Payload(
          kind: "kind \(kind)" + String(repeating: "k", count: 50),
          bytes: [UInt8](
            repeating: UInt8(random.below(256)),
            count: random.below(short ? 200 : limits.payloadBytes)))
      }
      let room = limits.textBytes / 4
      return NewEntry(
        key: key(name + (short ? "" : text(room))),
        lane: random.below(2) == 0 ? .device : .account(text(room - 8)),
        orderNumber: short ? nil : text(room), details: text(short ? 10 : room - 40), payloads: payloads)
    }
  }

  @Test func `hostile answers do not grow the file beyond what the limits say`() async throws {
    try await withTemporaryDirectory { directory in
      let limits = QueueLimits(
        entries: 12, totalBytes: 40_000, payloadBytes: 9_000, textBytes: 1_600, quarantinedEntries: 6,
        quarantinedBytes: 20_000, tombstones: 1_000, tombstoneBytes: 200_000)
      var hostile = Hostile(limits)
      let queue = try QueueFile(path: directory + "/q", limits: limits, now: noon)
      // Only sizes are looked at: without syncs the long run takes minutes less.
      try queue.connection.execute("PRAGMA synchronous=OFF")
      var largest = 0
      var known: [EntryKey] = []
      // The whole run: PURCHASE_SYNC_ANSWERS=100000.
      let answers =
        LongTests.number("PURCHASE_SYNC_ANSWERS") ?? LongTests.count(short: 2_000, long: 20_000)
      for number in 0..<answers {
        let now = noon.adding(milliseconds: Int64(number))
        var new = hostile.entry(number)
        if !known.isEmpty, hostile.random.below(4) == 0 {
          new.key = known[hostile.random.below(known.count)]
        }
        // A refusal by a limit is what the limits are for.
        func attempt(_ call: () throws(QueueError) -> Void) throws(QueueError) {
          do throws(QueueError) { try call() } catch .queueFull { return } catch .unknownEntry { return }
        }
        let chosen = new
        try attempt { () throws(QueueError) in _ = try queue.enqueue(chosen, now: now) }
        known.append(new.key)
        if known.count > 16 { known.removeFirst() }
        let held = try queue.allEntries().map(\.key)
        let target = (held.isEmpty ? known : held)[
          hostile.random.below(held.isEmpty ? known.count : held.count)]
        let (reason, what) = (hostile.text(4_000), hostile.random.below(6))
        try attempt { () throws(QueueError) in
          switch what {
          case 0: try queue.postpone(target, until: now, reason: reason, now: now)
          case 1: try queue.quarantine(target, reason: reason, now: now)
          case 2: try queue.release(target, now: now)
          default:
            try queue.recordAttempt([target], now: now)
            let (owes, isUnconfirmed) = (number % 9 == 0, number % 11 == 0)
            try queue.acknowledge(
              [
                Settlement(
                  key: target, outcome: String(reason.prefix(4)), hasPendingFinish: owes,
                  isUnconfirmed: isUnconfirmed)
              ], now: now)
          }
        }
        if number % 3 == 0 {
          for tombstone in try queue.tombstonesWithDuties().dropLast(number % 50) {
            if tombstone.isUnconfirmed { try queue.markConfirmed(tombstone.key) }
            if number % 100 == 0, tombstone.isFinishPending { try queue.markFinished(tombstone.key) }
          }
        }
        if number % 200 == 0 {
          // What the log holds reaches the file.
          _ = try queue.connection.checkpoint()
          let health = try queue.health()
          largest = max(largest, health.fileBytes)
          #expect(health.fileBytes <= limits.largestFileBytes)
          #expect(health.logBytes < 6 << 20)
        }
      }
      // The bound is not out of reach either.
      #expect(largest * 12 > limits.largestFileBytes, "\(largest) of \(limits.largestFileBytes)")
      #expect(try QueueCheck.run(path: queue.path).isClean)
    }
  }

  @Test func `the largest size of the default limits is what the page on limits says`() {
    #expect(QueueLimits().largestFileBytes >> 20 == 31)
    #expect(QueueLimits(entries: .max, totalBytes: .max, tombstoneBytes: .max).largestFileBytes == .max)
  }
}
