import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// Ids are texts from outside: two spellings of one letter are two transactions, in memory as in the file.
@Suite struct KeySpellingTests {
  private static let composed = "\u{E9}1"
  private static let decomposed = "e\u{301}1"

  @Test(arguments: StorageKind.allCases)
  func `two spellings of an id are two entries, and each is settled by itself`(kind: StorageKind) throws {
    let (first, second) = (key(Self.composed), key(Self.decomposed))
    #expect(first != second)
    #expect(Set([first, second, first]).count == 2)
    try StorageSite.with(kind) { site in
      for id in [Self.composed, Self.decomposed] {
        let enqueued = try site.enqueue(bought(id))
        guard case .inserted = enqueued else {
          Issue.record("\(enqueued)")
          return
        }
      }
      _ = try site.storage.acknowledge([SettledClaim(key: first, verdict: .granted)], now: midday)
      for _ in 0..<2 {
        #expect(try site.storage.entry(first) == nil)
        #expect(try site.storage.tombstone(first)?.key == first)
        #expect(try site.storage.entry(second)?.key == second)
        #expect(try site.storage.tombstone(second) == nil)
        try site.reopen()
      }
    }
  }

  @Test func `a verdict about one spelling settles that one`() throws {
    var run = try MachineRun(orders: [])
    run.machine.holdSends()
    _ = try run.arrive(bought(Self.composed))
    _ = try run.arrive(bought(Self.decomposed))
    _ = run.machine.begin(run.machine.sendHeld(now: run.now), now: run.now)
    _ = run.reply(.device, [Self.decomposed: .granted])
    #expect(run.entry(Self.composed) != nil)
    #expect(run.entry(Self.decomposed) == nil)
  }

  @Test func `a pause of one spelling in quarantine is not the other's`() throws {
    var record = TrialRecord(at: midday, appVersion: "")
    record.notBefore = [key(Self.composed): midday]
    #expect(record.notBefore?[key(Self.decomposed)] == nil)
  }

  @Test(arguments: ["100", "\u{301}1", "1\u{301}", ""])
  func `a key names its id, also one that begins with an accent`(id: String) {
    #expect(key(id).transactionID.unicodeScalars.elementsEqual(id.unicodeScalars))
    #expect(EntryKey(rawValue: "Xcode/\(id)@5").transactionID.unicodeScalars.elementsEqual(id.unicodeScalars))
  }
}
