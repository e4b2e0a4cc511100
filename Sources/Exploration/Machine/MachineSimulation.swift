package import PurchaseQueue
import PurchaseSync

/// The machine's simulation: people, phones, a store, a network and a backend in virtual time. Each process contains the
/// production machine. The same seed and the same acts give the same run, event by event.
///
/// A heap orders the events; nothing happens between them. A run has faults first and none later: then all work has to
/// be completed.
package final class MachineSimulation {
  package let knobs: MachineKnobs
  /// The planted bug; nil for none, and once it is mended.
  private(set) var bug: MachineBug?
  /// What the planted bug did.
  package let deeds = PlantedDeeds()
  private(set) var policy: RetryPolicy
  let checker = MachineChecker()
  var heap = EventHeap()
  var now: Int64 = 0
  /// How many events have happened.
  private(set) var event = 0
  var store: LeanStore
  var backend = LeanBackend()
  var phones: [Phone] = []
  /// The app of each phone, then the extension of each phone.
  var processes: [Process] = []
  var uploads: [Upload] = []
  /// The present faults.
  var faults: [(number: Int, fault: Fault, phone: Int, permille: Int)] = []
  var faultBits: UInt32 = 0
  var network: RandomStream
  var answers: RandomStream
  var shop: RandomStream
  var app: RandomStream
  /// What power cuts leave.
  var power: RandomStream
  /// Whether an act cuts the power of a phone.
  let losesPower: Bool
  let acts: [PlannedAct]
  /// The remaining acts have new moments, and are planned one by one.
  private var hasNewMoments = false
  /// The transaction of each purchase, by the place of its act.
  var saleOfAct: [Int]
  var nextAct = 0
  /// By transaction: whether the backend has recorded a settling verdict.
  var isOnRecord: [Bool] = []
  /// Purchases for which the backend has named another order.
  var lied: Set<Int> = []
  /// Purchases whose ids a stranger has named.
  var guessed: Set<Int> = []
  /// By transaction: the account of its order; -1 without an order.
  var purposes: [Int] = []
  var backupOfBackend: Int?
  /// Orders of purchases that wait for approval, by the place of their act.
  var orderOfAct: [Int: Int] = [:]
  /// Of each phone: the contents of its disk before each reinstall or restored backup, the latest last. A vault may
  /// restore entries of any of them.
  var previousShadows: [[Shadow]] = []
  /// The entries of the queues when the faults ended.
  var expected: [(phone: Int, sale: Int)] = []
  /// For a planted bug: the transactions that it finished.
  var finishedOnce: Set<Int> = []
  /// The Retry-After of entries in the present reply.
  var pendingFloors: [(sale: Int, until: Int64)] = []
  /// The earliest moment at which anything can be late.
  var firstDue = Int64.max
  /// The faults have ended.
  var isCalm = false
  /// Poison entries are repaired.
  var isCured = false
  /// The Apple IDs came to the phones a second time, after the first end.
  var hadAnotherRound = false
  /// The run is complete.
  var isOver = false
  var hash = RunHash()
  var figures = DeliveryFigures()
  /// The event that happened last; nil without tracing.
  private(set) var latest: Happening?
  /// Records a line for each event; nil without tracing.
  var trace: Trace?
  /// Notes what a guided search counts; nil if none asks.
  let behaviours: BehaviourLog?
  /// Judges each step by the specification; nil if it is not asked for.
  let watch: ProtocolWatch?
  /// The request that the backend is working on.
  var handled: Int?
  /// Records the draws; nil without a log.
  let drawLog: DrawLog?
  /// How many numbers were drawn before the run.
  private let drawnBefore: Int
  /// The planted bug, mended or not.
  private let planted: MachineBug?
  /// In this event the right code runs; nil for none.
  package var sparedEvent: Int?

  /// An hour, or a run, with more events is a burst: a drawn run has some dozen purchases, and a given list of acts may
  /// have many more.
  private let mostOfAnHour: Int
  private static let mostEvents = 200_000
  private var hour: (began: Int64, events: Int) = (0, 0)

  private func checkBurst() {
    if now - hour.began >= 3_600_000 { hour = (now, 0) }
    hour.events += 1
    if hour.events > mostOfAnHour || event > Self.mostEvents {
      checker.broken(.timers, "a burst: \(hour.events) events within an hour, \(event) in all")
      isOver = isOver || checker.ignoresInvariants
    }
  }

  /// The start of the clocks of the store and the backend.
  static let epoch: Int64 = 1_700_000_000_000

  /// - Parameters:
  ///   - given: The acts; nil for those that the knobs draw.
  ///   - places: The acts that happen; nil for all.
  package init(
    _ knobs: MachineKnobs, acts given: [PlannedAct]? = nil, keeping places: [Int]? = nil,
    bug: MachineBug? = nil, disks: DiskMaker, trace: Trace? = nil, log: DrawLog? = nil,
    checksProtocol: Bool = false, behaviours: BehaviourLog? = nil
  ) throws(QueueError) {
    self.knobs = knobs
    self.bug = bug
    planted = bug
    self.trace = trace
    drawLog = log
    self.behaviours = behaviours
    let checker = checker
    watch = checksProtocol ? ProtocolWatch { checker.refused($0, $1) } : nil
    checker.ignoresInvariants = checksProtocol && bug != nil
    let drawn = given == nil ? Schedule(knobs, log: log) : nil
    let schedule = given ?? drawn?.acts ?? []
    drawnBefore = knobs.draws + (drawn?.draws ?? 0)
    if let places {
      var kept: [PlannedAct] = []
      var isKept = [Bool](repeating: false, count: schedule.count)
      for place in places where schedule.indices.contains(place) { isKept[place] = true }
      // An omitted act keeps its place: other acts name purchases by it.
      for (place, planned) in schedule.enumerated() {
        kept.append(isKept[place] ? planned : PlannedAct(at: -1, act: planned.act))
      }
      acts = kept
    } else {
      acts = schedule
    }
    mostOfAnHour = max(20_000, 200 * acts.count)
    policy = bug?.policy ?? RetryPolicy()
    store = LeanStore(storeAccounts: knobs.storeAccounts)
    backend.hasAccountTokens = knobs.hasAccountTokens
    network = RandomStream(seed: knobs.seed, "network", log: log)
    answers = RandomStream(seed: knobs.seed, "backend", log: log)
    shop = RandomStream(seed: knobs.seed, "store", log: log)
    app = RandomStream(seed: knobs.seed, "app", log: log)
    power = RandomStream(seed: knobs.seed, "power", log: log)
    losesPower = acts.contains { if case .powerLoss = $0.act { $0.at >= 0 } else { false } }
    saleOfAct = Array(repeating: -1, count: schedule.count)
    checker.moment = { [unowned self] in (event, now) }
    plant(bug)
    try begin(disks)
  }

  private func begin(_ disks: DiskMaker) throws(QueueError) {
    for number in 0..<knobs.phones {
      var limits = knobs.limits
      if bug == .limitIgnored { limits.entries *= 8 }
      if bug == .tombstonesUnbounded { limits.tombstones = 1 << 20 }
      let disk = try disks(limits, knobs.hasVault)
      let shadow = makeShadow(number)
      let planted = bug?.wrap(disk, entries: knobs.entries, deeds)
      phones.append(Phone(number, planted ?? disk, shadow, knobs, drawLog))
      previousShadows.append([])
    }
    for role in 0...1 {
      for phone in phones {
        let storage = WatchedStorage(GoneStorage(), phone.shadow)
        processes.append(Process(processes.count, phone, role: role, storage, policy))
      }
    }
    for phone in phones { launch(processes[phone.number]) }
    planNextAct()
    plan(.heal, at: knobs.length + 60_000)
  }

  // MARK: Time

  func deviceNow(_ phone: Phone) -> Timestamp { Timestamp(milliseconds: Self.epoch + now + phone.clock) }

  var storeNow: Int64 { Self.epoch + now }

  func plan(_ kind: Happening.Kind, at moment: Int64, _ a: Int = 0, _ b: Int32 = 0, _ c: Int = 0) {
    heap.plan(Happening(at: moment, kind: kind, a: Int32(a), b: b, c: Int32(c)))
  }

  func planNextAct() {
    if hasNewMoments { return }
    while nextAct < acts.count, acts[nextAct].at < 0 { nextAct += 1 }
    if nextAct < acts.count { plan(.act, at: acts[nextAct].at, nextAct) }
  }

  /// Runs to the end, to the first violation, or to an event.
  package func run(stopAt last: Int = .max) {
    while !isOver, checker.violation == nil, event < last, let next = heap.next() {
      if next.at > firstDue { checkDeadlines(at: next.at) }
      now = max(now, next.at)
      event += 1
      if let drawLog { drawLog.begin(event: event, at: now) }
      if planted != nil { prepareBug() }
      hash.add(now ^ Int64(next.kind.rawValue) << 56)
      hash.add(Int64(next.a) << 32 ^ Int64(next.c))
      if trace != nil { latest = next }
      happen(next)
      observeObstacles()
      checkBurst()
      if event & (planted == nil ? 255 : 15) == 0 { checkAll() }
    }
  }

  private func happen(_ next: Happening) {
    let (a, c) = (Int(next.a), Int(next.c))
    switch next.kind {
    case .act:
      nextAct = a + 1
      planNextAct()
      note(acts[a].act)
      perform(acts[a].act, a)
    case .faultEnds: endFault(a)
    case .timer: fire(processes[a], next.b)
    case .uploadArrives: uploadArrives(a)
    case .uploadEnds: uploadEnds(a)
    case .finishEnds: running(a, next.b) { finishEnds($0, c) }
    case .adoptionEnds: running(a, next.b) { adoptionEnds($0, c) }
    case .listed: running(a, next.b) { listed($0) }
    case .listAgain: running(a, next.b) { if $0.listings.failures == c { listAgain($0) } }
    case .receiptRead: running(a, next.b) { receiptRead($0, c) }
    case .delivery: deliver(a)
    case .notification: notified(of: a)
    case .confirmation: running(a, next.b) { confirm($0, c) }
    case .fulfilAgain: running(a, next.b) { fulfilAgain($0) }
    case .launch: if !processes[a].isAlive { launch(processes[a]) }
    case .extensionEnds: running(a, next.b) { endExtension($0) }
    case .foreground: running(a, next.b) { wake($0, .foreground) }
    case .wakes: running(a, next.b) { performPendingWakes($0) }
    case .approval: approve(a)
    case .heal: heal()
    case .turn: turn(a)
    case .turnEnds: for phone in phones { list(processes[phone.number]) }
    case .deadline: checkDeadline()
    case .cure: cure()
    case .end: end()
    }
  }

  /// Calls `body` if the launch that planned the event still runs.
  private func running(_ number: Int, _ launch: Int32, _ body: (Process) -> Void) {
    let process = processes[number]
    if process.isAlive, process.launch == launch { body(process) }
  }

  // MARK: Another future

  /// Draws everything again that is not decided yet: each stream has new numbers, and each act that did not happen is
  /// dropped or has a new moment, with the same chance.
  package func redraw(_ future: UInt64) {
    network = RandomStream(seed: future, "network")
    answers = RandomStream(seed: future, "backend")
    shop = RandomStream(seed: future, "store")
    app = RandomStream(seed: future, "app")
    power = RandomStream(seed: future, "power")
    for phone in phones {
      phone.machineSeeds = RandomStream(seed: future, "machine", phone.number)
    }
    hasNewMoments = true
    heap.remove { $0.kind == .act }
    guard !isCalm else { return }
    var moments = RandomStream(seed: future, "moments")
    for place in acts.indices.dropFirst(nextAct) where acts[place].at >= 0 {
      let moment = now + Int64(moments.below(Int(max(1, knobs.length - now))))
      if moments.chance(500) { plan(.act, at: moment, place) }
    }
  }

  /// From now on the right code runs. What the planted bug has done stays.
  package func mend() {
    plant(nil)
    sparedEvent = nil
    guard planted?.policy != nil else { return }
    policy = RetryPolicy()
    // A process takes the numbers of the policy at its launch.
    let alive = processes.filter(\.isAlive)
    phones.forEach(killAll)
    alive.forEach(launch)
  }

  private func plant(_ bug: MachineBug?) {
    self.bug = bug
    deeds.isMended = bug == nil
    backend.flaw = bug?.flaw
    backend.forgetsTransactions = bug == .backendForgetsTransactions
  }

  private func prepareBug() {
    deeds.event = event
    guard let sparedEvent else { return }
    if event == sparedEvent { plant(nil) }
    if event == sparedEvent + 1 { plant(planted) }
  }

  // MARK: The result

  /// Removes the files of the disks.
  package func remove() { for phone in phones { phone.disk.remove() } }

  package var result: RunResult {
    let drawCounts =
      [drawnBefore, network.count, answers.count, shop.count, app.count] + phones.map(\.machineSeeds.count)
    var hash = hash
    for count in drawCounts { hash.add(Int64(count)) }
    return RunResult(
      seed: knobs.seed, violation: checker.violation, events: event, draws: drawCounts.reduce(0, +),
      hash: hash.value, exercised: checker.exercised, marks: checker.marks, figures: figures)
  }

  func tell(_ line: @autoclosure () -> String) {
    if trace != nil { trace?.add(line(), at: now, event: event) }
  }
}
