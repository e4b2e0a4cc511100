import Foundation
import PurchaseQueue
import PurchaseSync
import Specification
import VirtualTime

/// The engine's simulation: a store, a backend and apps around the real engine, on one run queue and in virtual time. One
/// seed gives one run.
///
/// One thread uses it. It is Sendable because everything that the engine calls has to be.
final class EngineSimulation: @unchecked Sendable {
  /// The device's clock at the start of a run: a day in 2025.
  static let beginning: Int64 = 1_750_000_000_000

  let knobs: EngineKnobs
  let bug: EngineBug?
  let queue: SeededQueue
  let checker = EngineChecker()
  /// The acts that happen; nil for all.
  let places: Set<Int>?
  /// The run ends behind this job.
  private let last: Int
  private let log: DrawLog?
  private let parent: String
  private let isTracing: Bool
  private let isInterrupted: @Sendable () -> Bool
  private(set) var trace: [String] = []
  /// Judges each step by the specification; nil if it is not asked for.
  let protocolWatch: ProtocolWatch?
  /// Of each phone: what it has committed, as the specification knows it.
  var committed: [Int: FileWatch.Content] = [:]
  /// The first phone's processes are dead, and their engines do not know it yet.
  var isDying = false
  /// The request that the backend is working on, and those that a process waits for.
  var handled: Int?
  var awaited: Set<Int> = []

  var network: RandomStream
  var shop: RandomStream
  var people: RandomStream
  var chance: RandomStream

  var store = LeanStore(storeAccounts: 2)
  var backend = LeanBackend()
  /// The order of each request for an order, by the request's key.
  var orderOfKey: [String: Int] = [:]
  /// Of each transaction: whether the backend recorded a settling verdict, and which verdicts an engine received.
  var isOnRecord: [Bool] = []
  var given: [Set<String>] = []
  /// Transactions that were discarded, confirmed, delivered to an app, and whose last enqueue threw.
  var discarded: Set<Int> = []
  var confirmed: Set<Int> = []
  var told: [Int: Int] = [:]
  var refused: Set<Int> = []
  /// How often the present file sent each of them.
  var sends: [Int: Int] = [:]
  var signedOut: Set<String> = []
  var lastSignedIn = "alice"

  /// The processes of the first phone, and how many were launched on all phones.
  var processes: [EngineProcess] = []
  var launched = 0
  var watch: FileWatch?
  /// The first phone's vault; nil if it has none.
  let vault: EngineVault?
  /// The other phones, and which phone has which identity at the backend.
  var phones: [EnginePhone] = []
  var deviceNames: [String: Int] = [:]
  /// What the receipts of restores hold, by their text.
  var receipts: [String: Set<Int>] = [:]
  var directory: String
  private var directories = 0
  /// The number of checkpoints before all processes of the phone die.
  var boundariesLeft: Int?
  /// Whether the kill was a power cut.
  var isPowerCut = false
  /// What power cuts leave.
  var power: RandomStream
  /// The committed content at the moment of a kill.
  var atKill: FileWatch.Content?
  /// Requests in flight, by their lane, with their process.
  var inFlight: [String: [(send: Int, process: Int)]] = [:]
  var sendCount = 0
  /// Conditions that have to hold when no job is ready.
  var obligations: [(invariant: EngineInvariant, what: String, process: EngineProcess, isMet: () -> Bool)] =
    []
  /// The faults have ended.
  var isHealed = false
  var bought = 0
  /// Acts that happen at the next call of an engine.
  var armed: [EngineAct] = []
  /// Why no engine could be opened; nil after one was.
  var neverOpened: String?
  /// Purchases that have begun and not ended.
  var buyers = 0
  /// The orders that devices made, by their numbers, and those of them that the backend knows.
  var deviceOrders: [String: Int] = [:]
  var registered: Set<Int> = []
  /// Orders whose sheets said cancelled.
  var cancelled: Set<Int> = []
  /// Orders that the store answered with an earlier transaction, and the transaction; and those that were published to
  /// the app.
  var owned: [String: Int] = [:]
  var toldOwned: Set<String> = []
  /// What the backend said about the owners of settled transactions.
  var ownersTold: [Int: Set<PurchaseOwner>] = [:]
  /// Purchases whose ids a stranger has named.
  var guessed: Set<Int> = []
  /// The processes that have handed out each order.
  var ordersHandedOut: [String: [EngineProcess]] = [:]
  /// Of each phone: when its file says that each order was handed out last, by the order's number.
  var momentsHandedOut: [Int: [String: Int64]] = [:]
  /// The purchases with which the store answered the payment of a later order.
  var returned: Set<Int> = []
  /// Requests with claims, of all processes.
  var uploads = 0
  /// By when what each lane holds has to be delivered, and the earliest moment at which anything can be late.
  var deadlines = [DeliveryDeadline](repeating: DeliveryDeadline(), count: Names.lanes.count)
  var firstDue = Int64.max
  /// When each entry of the first phone was queued.
  var arrivals: [String: Int64] = [:]
  /// Those that came while two processes worked, until the next wake of the one that is left: nothing says to a process
  /// what another one queued.
  var unknownEntries: Set<String> = []
  /// When a reply last left a purchase in the queue.
  var leftOpen: [Int: Int64] = [:]
  /// The first version of each transaction whose certificates have not expired.
  var chainVersions: [Int: Int] = [:]
  /// Requests in flight that a fault strikes, and calls that hang, of the first phone.
  var struckRequests = 0
  var hangingCalls = 0
  /// The first phone has no network.
  var isOffline = false
  /// What tempts the engine to work without end.
  var temptations: Set<EngineAct> = []
  /// How often all engines of the first phone did something in a minute.
  var meter = PaceMeter<PaceLimits.Kind>()
  /// For the planted bugs of the lease.
  var lanesSeen: Set<String> = []
  var forgotten: [ForgottenLock] = []

  init(
    _ knobs: EngineKnobs, bug: EngineBug?, below parent: String, isTracing: Bool, keeping places: [Int]?,
    stopAt last: Int, log: DrawLog?, checksProtocol: Bool = false,
    _ isInterrupted: @escaping @Sendable () -> Bool
  ) {
    let checker = self.checker
    protocolWatch = checksProtocol ? ProtocolWatch { checker.refused($0, $1) } : nil
    checker.ignoresInvariants = checksProtocol && bug != nil
    self.knobs = knobs
    self.bug = bug
    self.places = places.map(Set.init)
    self.last = last
    self.parent = parent
    self.isTracing = isTracing
    self.isInterrupted = isInterrupted
    self.log = log
    // The names of the streams are part of what a seed means.
    queue = SeededQueue(seed: knobs.seed, log: log)
    network = RandomStream(seed: knobs.seed, "shell network", log: log)
    shop = RandomStream(seed: knobs.seed, "shell store", log: log)
    people = RandomStream(seed: knobs.seed, "shell people", log: log)
    chance = RandomStream(seed: knobs.seed, "shell chance", log: log)
    power = RandomStream(seed: knobs.seed, "shell power", log: log)
    directory = parent
    queue.stalls = knobs.stalls
    if bug == .idsBelieved { backend.flaw = .believesIDs }
    if bug == .refundsAddUp { backend.flaw = .addsRefunds }
    if bug == .bundleCountsOnce { backend.flaw = .creditsBundleOnce }
    if bug == .seatsByToken { backend.flaw = .takesTokensOfSeats }
    vault = knobs.acts.contains { $0.act == .clone } ? EngineVault() : nil
    checker.moment = { [unowned self] in (queue.steps, queue.now) }
  }

  var result: RunResult {
    var figures = DeliveryFigures()
    figures.purchases = store.sales.count
    return RunResult(
      seed: knobs.seed, violation: checker.violation, events: queue.steps, draws: queue.choices,
      hash: queue.hash.value, exercised: checker.exercised, marks: checker.marks, figures: figures)
  }

  var now: Timestamp { Timestamp(milliseconds: Self.beginning + queue.now) }

  /// Every effect outside the engine becomes part of the run's hash and of its trace.
  func tell(_ process: EngineProcess?, _ line: @autoclosure () -> String) {
    // Each process has its files in another directory.
    let line = ((process.map { $0.name + ": " } ?? "") + line())
      .replacingOccurrences(of: parent, with: "…")
    var word: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in line.utf8 { word = (word ^ UInt64(byte)) &* 0x100_0000_01B3 }
    queue.tell(word)
    guard isTracing else { return }
    let (seconds, rest) = queue.now.quotientAndRemainder(dividingBy: 1_000)
    let digits = String(1_000 + rest).dropFirst()
    trace.append("\(seconds).\(digits) s, job \(queue.steps): \(line)")
  }

  // MARK: Directories

  func makeDirectory() throws -> String {
    directories += 1
    let path = parent + "/\(directories)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    return path
  }

  // MARK: The run

  /// Runs to the end or to the first violation.
  func run() throws {
    directory = try makeDirectory()
    plan()
    launch("app")
    do {
      try run(until: knobs.length) { false }
      if checker.violation == nil { try heal() }
      if checker.violation == nil { try end() }
    } catch is Stopped {
      tell(nil, "the run is stopped here")
    }
    abandon()
  }

  /// The last job of the trace has run.
  private struct Stopped: Error {}

  /// Steps until the moment, until the condition holds, or until a violation.
  func run(until horizon: Int64, _ isDone: () -> Bool) throws {
    var left = 400_000
    while checker.violation == nil, !isDone() {
      if isInterrupted() { throw EngineRunner.Ended() }
      // The checks of a job may come with a later timer.
      if queue.steps > last { throw Stopped() }
      log?.begin(event: queue.steps, at: queue.now)
      guard queue.step(until: horizon) else { return }
      left -= 1
      if left == 0 { return checker.broken(.quiet, "jobs run without end") }
      try afterStep()
    }
  }

  private func afterStep() throws {
    if boundariesLeft == -1 { try dieAtBoundary() }
    look()
    checkDeadlines()
    observeDeadlines()
    if !queue.hasReady { settleObligations() }
  }

  func settleObligations() {
    for duty in obligations where duty.process.isAlive {
      checker.expect(duty.invariant, duty.isMet(), duty.what)
    }
    obligations.removeAll()
  }

  /// Ends everything, so that no job reaches the next run.
  private func abandon() {
    for process in allProcesses where !process.hasEnded { kill(process) }
    watch = nil
  }
}
