import PurchaseSync
import PurchaseSyncTesting

/// What became of the purchases, counted from the parent's own log: never from what the app says of itself.
struct Score: Encodable {
  var scenario: String
  var client: String
  /// Charged transactions that were not settled as refunded or lapsed.
  var paid: Int
  /// Those of them with at least one credit.
  var granted: Int
  /// Paid, not credited, and nowhere left that could bring it back.
  var lost: Int
  /// Credits beyond one per transaction, and orders fulfilled twice.
  var doubled: Int
  /// Credits that are another account's than the order's.
  var wrongAccount: Int
  /// Still unfinished in the store.
  var unfinished: Int
  /// Not credited, but unfinished in the store, or in the queue or the vault.
  var pending: Int
  /// Pending when the story's time was over, which is when this is counted.
  var stuck: Int
  var seconds: Double
  /// What the story expects besides, and did not find: `paid 1, not 2`.
  var unexpected: [String]

  init(
    _ scenario: Scenario, client: Client, world: WorldSnapshot, kept: Set<String>, seconds: Double
  ) {
    self.scenario = scenario.name
    self.client = client.rawValue
    self.seconds = (seconds * 1_000).rounded() / 1_000
    let tally = WorldTally(world, kept: kept)
    paid = tally.paid
    granted = tally.granted
    lost = tally.lost
    doubled = tally.doubled
    wrongAccount = tally.wrongAccount
    unfinished = tally.unfinished
    pending = tally.pending
    stuck = tally.pending
    unexpected = scenario.expects.missed(by: tally, world)
  }

  /// Paid = granted, each to whom it belongs, and nothing lost, doubled or stuck.
  var isClean: Bool { paid == granted && lost == 0 && doubled == 0 && stuck == 0 && wrongAccount == 0 }

  /// Clean, everything finished at the store (invariant 23), and as the story expects.
  var isAsExpected: Bool { isClean && unfinished == 0 && unexpected.isEmpty }

  /// `ok`, or what is wrong: `1 lost, 2 stuck`. What a story expects besides, only the engine has to bring.
  var words: String {
    let unexpected = client == Client.engine.rawValue ? self.unexpected : []
    let counts = [(lost, "lost"), (doubled, "doubled"), (wrongAccount, "wrong account"), (stuck, "stuck")]
    var wrong = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" } + unexpected
    if isClean, unfinished > 0, client == Client.engine.rawValue {
      wrong.append("\(unfinished) never finished")
    }
    return wrong.isEmpty ? "ok" : wrong.joined(separator: ", ")
  }
}

extension Scenario.Expectation {
  /// What did not come as expected.
  func missed(by tally: WorldTally, _ world: WorldSnapshot) -> [String] {
    var missed: [String] = []
    if let paid, paid != tally.paid { missed.append("paid \(tally.paid), not \(paid)") }
    for (name, least) in verdicts.sorted(by: { $0.key < $1.key }) {
      let count = world.verdicts.count { $0.verdict.rawValue == name }
      if count < least { missed.append("\(count) verdicts \(name), not \(least)") }
    }
    return missed
  }
}
