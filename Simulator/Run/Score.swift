import CommandLineTools
import PurchaseSync
import PurchaseSyncTesting
import ScenarioFormat

/// The counts of a run's purchases. They come from the parent's own log, never from reports of the app.
struct Score: Encodable {
  enum Verdict: String, Encodable {
    case clean, failed
    /// The run ran out of time, and nothing that it left is certain.
    case undecided
  }

  var scenario: String
  var client: String
  /// Charged transactions that were not settled as refunded or lapsed.
  var paid: Int
  /// Those of them with at least one credit.
  var granted: Int
  /// Paid, not credited, and nothing is left that could bring it back.
  var lost: Int
  /// Credits beyond one per transaction, and orders fulfilled twice.
  var doubled: Int
  /// Credits of another account than the order's.
  var wrongAccount: Int
  /// Still unfinished in the store.
  var unfinished: Int
  /// Not credited, but unfinished in the store, or in the queue or the vault.
  var pending: Int
  /// Purchases that are pending at the end of the run.
  var stuck: Int
  /// How long the run took.
  var seconds: Double
  /// From able to delivered, of the purchase that took longest (`DeliveryWatch`); nil if nothing was measured.
  var delay: Double?
  /// Whether the backend asks the app to wait: then it may deliver later.
  var mayBeLate = false
  /// Requests that the parent's servers got from the app.
  var requests: RequestCounts
  /// Other differences from the scenario's expectation: `paid 1, not 2`.
  var unexpected: [String]
  /// Crashes and hangs, which more time would not change.
  var crashes: [String] = []
  /// Whether a launch of the app ended before it was done, although it was still making attempts.
  var ranOutOfTime = false
  /// What the specification of the protocol says; nil if it was not asked.
  var judgement: StepJudge.Judgement?

  init(
    _ scenario: Scenario, client: Client, environment: MockSnapshot, kept: Set<String>, seconds: Double
  ) {
    self.scenario = scenario.name
    self.client = client.rawValue
    self.seconds = (seconds * 1_000).rounded() / 1_000
    requests = RequestCounts(environment)
    let tally = MockTally(environment, kept: kept)
    paid = tally.paid
    granted = tally.granted
    lost = tally.lost
    doubled = tally.doubled
    wrongAccount = tally.wrongAccount
    unfinished = tally.unfinished
    pending = tally.pending
    stuck = tally.pending
    unexpected = scenario.expects.missed(by: tally, environment)
  }

  /// Paid = granted, each to the account it belongs to, and nothing lost, doubled or stuck.
  var isClean: Bool { paid == granted && lost == 0 && doubled == 0 && stuck == 0 && wrongAccount == 0 }

  /// The most seconds from able to delivered.
  static let promptness = 60.0

  /// Whether a purchase was delivered later than a minute after it could be.
  var isLate: Bool { !mayBeLate && delay.map { $0 > Self.promptness } ?? false }

  /// Clean, everything finished at the store (invariant 23), in time, and as the scenario expects.
  var isAsExpected: Bool {
    isClean && unfinished == 0 && !isLate && unexpected.isEmpty && crashes.isEmpty && refusal == nil
  }

  /// The first step that the specification does not allow.
  var refusal: String? { judgement?.refusal }

  /// Only the engine has to meet the other expectations of a scenario.
  var verdict: Verdict {
    guard client == Client.engine.rawValue else { return isClean ? .clean : .failed }
    if isAsExpected { return .clean }
    // More time would not undo these.
    let isCertain = lost + doubled + wrongAccount > 0 || isLate || !crashes.isEmpty || refusal != nil
    return ranOutOfTime && !isCertain ? .undecided : .failed
  }

  /// `ok`, or what is wrong: `1 lost, 2 stuck`.
  var words: String {
    let isEngine = client == Client.engine.rawValue
    let counts = [(lost, "lost"), (doubled, "doubled"), (wrongAccount, "wrong account"), (stuck, "stuck")]
    var wrong = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" } + (isEngine ? remarks : [])
    if isClean, unfinished > 0, isEngine { wrong.append("\(unfinished) never finished") }
    let text = wrong.isEmpty ? "ok" : wrong.joined(separator: ", ")
    return verdict == .undecided ? "undecided, out of time: " + text : text
  }

  /// Everything else that is wrong.
  var remarks: [String] {
    let late = isLate ? delay.map { ["delivered \(Table.seconds($0)) s after it could be"] } ?? [] : []
    return crashes + unexpected + late + (refusal.map { ["refused: " + $0] } ?? [])
  }

  private enum Key: String, CodingKey {
    case scenario, client, verdict, paid, granted, lost, doubled, wrongAccount, unfinished, pending, stuck
    case seconds, secondsToDelivery, uploads, finishes, listings, unexpected, ranOutOfTime, steps, refusal
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(scenario, forKey: .scenario)
    try container.encode(client, forKey: .client)
    try container.encode(verdict, forKey: .verdict)
    for (key, count) in [
      (Key.paid, paid), (.granted, granted), (.lost, lost), (.doubled, doubled),
      (.wrongAccount, wrongAccount),
      (.unfinished, unfinished), (.pending, pending), (.stuck, stuck),
    ] {
      try container.encode(count, forKey: key)
    }
    try container.encode(seconds, forKey: .seconds)
    try container.encodeIfPresent(delay.map { ($0 * 100).rounded() / 100 }, forKey: .secondsToDelivery)
    try container.encode(requests.uploads, forKey: .uploads)
    try container.encode(requests.finishes, forKey: .finishes)
    try container.encode(requests.listings, forKey: .listings)
    try container.encode(crashes + unexpected, forKey: .unexpected)
    try container.encode(ranOutOfTime, forKey: .ranOutOfTime)
    try container.encodeIfPresent(judgement?.steps, forKey: .steps)
    try container.encodeIfPresent(refusal, forKey: .refusal)
  }
}

extension Scenario.Expectation {
  /// The differences from the expectation.
  func missed(by tally: MockTally, _ environment: MockSnapshot) -> [String] {
    var missed: [String] = []
    if let paid, paid != tally.paid { missed.append("paid \(tally.paid), not \(paid)") }
    for (name, least) in verdicts.sorted(by: { $0.key < $1.key }) {
      let count = environment.verdicts.count { $0.verdict.rawValue == name }
      if count < least || least == 0 && count > 0 {
        missed.append("\(count) verdicts \(name), not \(least)")
      }
    }
    for (name, wanted) in orders.sorted(by: { $0.key < $1.key }) {
      let count = environment.orders.count { $0.state.rawValue == name }
      if count != wanted { missed.append("\(count) orders \(name), not \(wanted)") }
    }
    for (name, least) in owners.sorted(by: { $0.key < $1.key }) {
      let count = environment.verdicts.count { $0.owner?.rawValue == name }
      if count < least || least == 0 && count > 0 { missed.append("\(count) told as \(name), not \(least)") }
    }
    for charge in environment.miscounted {
      missed.append(
        "\(environment.unitsCredited(of: charge.transactionID)) units credited, and \(charge.unitsPaid) paid and not refunded"
      )
    }
    let left = environment.creditOwners.count { if case .device = $0 { true } else { false } }
    if let ofDevices, ofDevices != left { missed.append("\(left) credits of devices, not \(ofDevices)") }
    return missed
  }
}

extension Sequence<Score> {
  /// The exit code of these runs. Only runs of the engine can make it differ from 0.
  var exitCode: Int32 {
    let verdicts = Set(filter { $0.client == Client.engine.rawValue }.map(\.verdict))
    if verdicts.contains(.failed) { return ExitCode.promiseBroken }
    return verdicts.contains(.undecided) ? ExitCode.undecided : ExitCode.ok
  }
}
