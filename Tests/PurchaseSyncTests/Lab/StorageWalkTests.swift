import PurchaseQueue
import PurchaseSyncTesting
import TestSupport
import Testing

@testable import PurchaseSync

/// File and memory storage get the same random calls. Results, errors and stored state must be equal.
@Suite struct StorageWalkTests {
  private static let ids = (0..<8).map { "10\($0)" }
  private static let orders: [UInt8] = [1, 2, 3, 4]

  @Test(arguments: LongTests.seeds(short: 4, long: 12))
  func `file and memory behave the same`(seed: UInt64) throws {
    let limits = QueueLimits(entries: 4, quarantinedEntries: 2)
    try StorageSite.with(.file, limits: limits) { file in
      try StorageSite.with(.memory, limits: limits) { memory in
        for site in [file, memory] {
          for number in Self.orders { try site.addOrder(number, account: number < 4 ? "alice" : "bob") }
        }
        var random = SplitMix64(seed: seed)
        var trace: [String] = []
        for step in 0..<150 {
          let call = Call.random(ids: Self.ids, at: Int64(step) * 1_000, using: &random)
          trace.append("\(call)")
          let results = try [file, memory].map { site in
            "\(call.result(on: site))"
              + (try site.snapshot(Self.ids, orders: Self.orders)).joined(separator: "\n")
          }
          guard results[0] != results[1] else { continue }
          Issue.record(
            "seed \(seed), step \(step):\n\(trace.suffix(8).joined(separator: "\n"))\n\(results[0])\n---\n\(results[1])"
          )
          return
        }
      }
    }
  }

  /// One call of the protocol.
  struct Call: CustomStringConvertible {
    var name: String
    var perform: (StorageSite) throws -> String

    var description: String { name }

    /// The result as text, or the error.
    func result(on site: StorageSite) -> String {
      do { return try perform(site) } catch { return "\(error)" }
    }

    static func random(ids: [String], at offset: Int64, using random: inout SplitMix64) -> Call {
      let now = midday.adding(milliseconds: offset)
      let id = ids[Int.random(in: 0..<ids.count, using: &random)]
      let other = ids[Int.random(in: 0..<ids.count, using: &random)]
      let token = UInt8.random(in: 1...6, using: &random)
      let wait = now.adding(milliseconds: Int64.random(in: 0...5_000, using: &random))
      switch Int.random(in: 0..<22, using: &random) {
      case 0..<6:
        var transaction = bought(id, token: token > 4 ? nil : token, proof: "proof \(token)")
        if token == 6 { transaction.revokedAt = now }
        return Call(name: "enqueue \(id) \(token)") { site in
          switch try site.enqueue(transaction, from: token == 1 ? "apple-id" : nil, at: now) {
          case .inserted: return "inserted"
          case .collapsed: return "collapsed"
          case .settled(let tombstone):
            guard try site.storage.isNews(transaction, since: tombstone) else { return "settled" }
            return "update \(try site.storage.enqueueUpdate(transaction, of: tombstone, now: now).place)"
          }
        }
      case 6..<10:
        let verdicts = [Verdict.granted, .duplicate, .lapsed, .refunded, .otherOwner]
        let verdict = verdicts[Int.random(in: 0..<verdicts.count, using: &random)]
        let order = Bool.random(using: &random) ? String(token) : nil
        return Call(name: "acknowledge \(id) \(other) \(verdict.rawValue) \(order ?? "-")") { site in
          let claims = [
            SettledClaim(key: key(other), verdict: .granted),
            SettledClaim(key: key(id), verdict: verdict, orderNumber: order),
          ]
          let kept = id == other ? [claims[1]] : claims
          return "\(try site.storage.acknowledge(kept, now: now).map(\.key.id))"
        }
      default: return later(id, other, now, wait, &random)
      }
    }

    private static func later(
      _ id: String, _ other: String, _ now: Timestamp, _ wait: Timestamp, _ random: inout SplitMix64
    ) -> Call {
      switch Int.random(in: 0..<13, using: &random) {
      case 0:
        return Call(name: "attempt \(id) \(other)") { site in
          try site.storage.recordAttempt(
            id == other ? [key(id)] : [key(id), key(other)], keeping: nil, now: now)
          return ""
        }
      case 1:
        return Call(name: "postpone \(id)") { site in
          try site.storage.postpone(key(id), until: wait, reason: "because", now: now)
          return ""
        }
      case 2:
        return Call(name: "quarantine \(id)") {
          "\(try $0.storage.quarantine(key(id), reason: "why", now: now))"
        }
      case 3:
        return Call(name: "release \(id)") { "\(try $0.storage.release(key(id), nil, now: now))" }
      case 4:
        return Call(name: "finished \(id)") { site in
          try site.storage.markFinished(key(id))
          return ""
        }
      case 5, 6:
        return Call(name: "seen \(id)") { site in
          try site.storage.markConfirmed(key(id))
          return ""
        }
      case 7:
        return Call(name: "owe \(id)") { site in
          var update = bought(id)
          update.revokedAt = now
          try site.storage.oweUpdate(update, now: now)
          return ""
        }
      case 8:
        return Call(name: "queue what is pending") { "\(try $0.storage.queuePendingUpdates(now: now))" }
      case 9:
        return Call(name: "wake") { site in
          "\(try site.storage.shortenWaits(now: now, policy: RetryPolicy()).map(\.rawValue).sorted())"
        }
      case 10:
        return Call(name: "attach \(id)") { site in
          try site.storage.attach(
            Payload(kind: "appReceipt", bytes: Array(other.utf8)), to: key(id), now: now)
          return ""
        }
      case 11: return Call(name: "claim") { "\(try $0.storage.keepAdoption(of: "alice"))" }
      default:
        return Call(name: "epoch") { site in
          try site.storage.keepLedgerEpoch("epoch \(now)", offeringAgain: true)
          return ""
        }
      }
    }
  }
}
