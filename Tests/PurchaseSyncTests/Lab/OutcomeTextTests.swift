import PurchaseQueue
import Testing

@testable import PurchaseSync

/// The text in which a tombstone keeps verdict, owner and account.
@Suite struct OutcomeTextTests {
  private func tombstone(_ outcome: String) throws -> Tombstone {
    var stone: Tombstone?
    try StorageSite.with(.memory) { site in
      try site.enqueue(bought("1"))
      stone = try site.settle("1")
    }
    var settled = try #require(stone)
    settled.outcome = outcome
    return settled
  }

  @Test(arguments: ["alice", "a/b", "", "/", "Jürgen / 群"])
  func `an account of any name is kept with the owner`(account: String) throws {
    let stone = try tombstone(Tombstone.outcome(.duplicate, owner: .yours, provenBy: account))
    #expect(stone.verdict == .duplicate && stone.owner == .yours && stone.provenBy == account)
  }

  @Test(arguments: ["granted", "of a newer protocol"])
  func `a verdict alone has the usual owner`(word: String) throws {
    let stone = try tombstone(Tombstone.outcome(Verdict(rawValue: word), owner: nil))
    #expect(stone.verdict.rawValue == word && stone.owner == .device && stone.provenBy == nil)
  }
}
