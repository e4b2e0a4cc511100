package import PurchaseQueue
import PurchaseSync

/// One life of an app's purchases: people, phones, a store, a network and a backend in virtual time, with the production
/// machine in each process. The same seed and the same acts give the same life, event by event.
///
/// One heap of events; nothing happens between them. First the faults, then none: everything has to come to its end.
package final class World {
  package let knobs: Knobs
  let plant: Plant?
  let policy: RetryPolicy
  let checker = Checker()
  var heap = EventHeap()
  var now: Int64 = 0
  var store: LeanStore
  var backend = LeanBackend()
  var phones: [Phone] = []
  /// Of each phone its app, and then of each phone its extension.
  var processes: [Process] = []
  var uploads: [Upload] = []
  /// The faults that last just now.
  var faults: [(number: Int, fault: Fault, phone: Int, permille: Int)] = []
  var faultBits: UInt32 = 0
  var network: RandomStream
  var answers: RandomStream
  var shop: RandomStream
  var app: RandomStream
  let acts: [PlannedAct]
  /// By the place of its act: the transaction that a purchase became.
  var saleOfAct: [Int]
  var nextAct = 0
  /// By transaction: whether the backend has a settling verdict about it on record.
  var isOnRecord: [Bool] = []
  /// By transaction: who the order was made for that it was bought for; -1 where there was none.
  var purposes: [Int] = []
  var backupOfBackend: Int?
  /// Orders of purchases that wait for somebody, by the place of their act.
  var orderOfAct: [Int: Int] = [:]
  /// Of each phone: what was on its disk before the app was deleted or an image restored, the latest last. A vault may
  /// bring back what was in any of them.
  var previousShadows: [[Shadow]] = []
  /// What was in the queues when the faults stopped.
  var expected: [(phone: Int, sale: Int)] = []
  /// Of a planted bug: what it has called finish for.
  var finishedOnce: Set<Int> = []
  /// Waits that the present reply asks for.
  var pendingFloors: [(sale: Int, until: Int64)] = []
  /// The faults are over.
  var isCalm = false
  /// Poison is no longer poison.
  var isCured = false
  /// Nothing more is expected to happen.
  var isOver = false
  var hash = RunHash()
  var figures = Figures()
  /// The events of the run, for people; empty unless somebody wants them.
  var story: Story?
  /// Where what is drawn is written down; nil unless somebody wants it.
  let drawLog: DrawLog?
  /// How many numbers were drawn before it began.
  private let drawnBefore: Int

  /// No hour of some dozen purchases holds so many events, and no life.
  private static let mostOfAnHour = 20_000
  private static let mostEvents = 200_000
  private var hour: (began: Int64, events: Int) = (0, 0)

  private func checkBurst() {
    if now - hour.began >= 3_600_000 { hour = (now, 0) }
    hour.events += 1
    if hour.events > Self.mostOfAnHour || checker.event > Self.mostEvents {
      checker.broken(.timers, "a burst: \(hour.events) events within an hour, \(checker.event) in all")
    }
  }

  /// Midday of some day: the moments of the store and the backend.
  static let epoch: Int64 = 1_700_000_000_000

  /// A world whose acts are those of its schedule with these places; nil for all.
  package init(
    _ knobs: Knobs, keeping places: [Int]? = nil, plant: Plant? = nil, disks: DiskMaker, story: Story? = nil,
    log: DrawLog? = nil
  ) throws(QueueError) {
    self.knobs = knobs
    self.plant = plant
    self.story = story
    drawLog = log
    let planned = Schedule(knobs, log: log)
    let schedule = planned.acts
    drawnBefore = knobs.draws + planned.draws
    if let places {
      var kept: [PlannedAct] = []
      var isKept = [Bool](repeating: false, count: schedule.count)
      for place in places where schedule.indices.contains(place) { isKept[place] = true }
      // An act that is left out leaves its place: others name purchases by it.
      for (place, planned) in schedule.enumerated() {
        kept.append(isKept[place] ? planned : PlannedAct(at: -1, act: planned.act))
      }
      acts = kept
    } else {
      acts = schedule
    }
    policy = plant?.policy ?? RetryPolicy()
    store = LeanStore(storeAccounts: knobs.storeAccounts)
    network = RandomStream(seed: knobs.seed, "network", log: log)
    answers = RandomStream(seed: knobs.seed, "backend", log: log)
    shop = RandomStream(seed: knobs.seed, "store", log: log)
    app = RandomStream(seed: knobs.seed, "app", log: log)
    saleOfAct = Array(repeating: -1, count: schedule.count)
    backend.forgetsTransactions = plant == .backendForgetsTransactions
    try begin(disks)
  }

  private func begin(_ disks: DiskMaker) throws(QueueError) {
    for number in 0..<knobs.phones {
      var limits = knobs.limits
      if plant == .capIgnored { limits.entries *= 8 }
      if plant == .tombstonesUnbounded { limits.tombstones = 1 << 20 }
      let disk = try disks(limits, knobs.hasVault)
      let shadow = Shadow(checker, knobs.limits)
      phones.append(Phone(number, plant?.wrap(disk) ?? disk, shadow, knobs, drawLog))
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
    while nextAct < acts.count, acts[nextAct].at < 0 { nextAct += 1 }
    if nextAct < acts.count { plan(.act, at: acts[nextAct].at, nextAct) }
  }

  /// Runs to the end, to the first violation, or to an event; false if there is a violation.
  package func run(stopAt last: Int = .max) -> Violation? {
    while !isOver, checker.violation == nil, checker.event < last, let next = heap.next() {
      now = max(now, next.at)
      checker.event += 1
      checker.now = now
      if let drawLog { drawLog.begin(event: checker.event, at: now) }
      hash.add(now ^ Int64(next.kind.rawValue) << 56)
      hash.add(Int64(next.a) << 32 ^ Int64(next.c))
      happen(next)
      checkBurst()
      if checker.event & (plant == nil ? 255 : 15) == 0 { checkAll() }
    }
    return checker.violation
  }

  private func happen(_ next: Happening) {
    let (a, c) = (Int(next.a), Int(next.c))
    switch next.kind {
    case .act:
      nextAct = a + 1
      planNextAct()
      perform(acts[a].act, a)
    case .faultEnds: endFault(a)
    case .timer: fire(processes[a], next.b)
    case .uploadArrives: uploadArrives(a)
    case .uploadEnds: uploadEnds(a)
    case .finishEnds: running(a, next.b) { finishEnds($0, c) }
    case .claimEnds: running(a, next.b) { claimEnds($0, c) }
    case .listed: running(a, next.b) { listed($0) }
    case .receiptRead: running(a, next.b) { receiptRead($0, c) }
    case .delivery: deliver(a)
    case .confirmation: running(a, next.b) { confirm($0, c) }
    case .launch: if !processes[a].isAlive { launch(processes[a]) }
    case .extensionEnds: running(a, next.b) { endExtension($0) }
    case .foreground: running(a, next.b) { wake($0, .foreground) }
    case .approval: approve(a)
    case .heal: heal()
    case .turn: turn(a)
    case .turnEnds: for phone in phones { list(processes[phone.number]) }
    case .deadline: checkDeadline()
    case .cure: cure()
    case .end: end()
    }
  }

  /// For what was begun by a process that may have died since.
  private func running(_ number: Int, _ launch: Int32, _ body: (Process) -> Void) {
    let process = processes[number]
    if process.isAlive, process.launch == launch { body(process) }
  }

  // MARK: What came of it

  /// Removes what the disks left.
  package func remove() { for phone in phones { phone.disk.remove() } }

  package var eventCount: Int { checker.event }
  /// Of all that happened, and of how many numbers each stream drew.
  package var runHash: UInt64 {
    var hash = hash
    for count in drawCounts { hash.add(Int64(count)) }
    return hash.value
  }
  /// How many random numbers the run took.
  package var draws: Int { drawCounts.reduce(0, +) }
  private var drawCounts: [Int] {
    [drawnBefore, network.count, answers.count, shop.count, app.count] + phones.map(\.machineSeeds.count)
  }
  package var exercised: [Int] { checker.exercised }
  package var marks: [Int] { checker.marks }
  package var measured: Figures { figures }
  package var toldStory: [String] { story?.lines ?? [] }

  func tell(_ line: @autoclosure () -> String) {
    if story != nil { story?.add(line(), at: now, event: checker.event) }
  }
}

/// What a run says of how well it went.
package struct Figures: Sendable, Hashable {
  /// From the charge to the settling verdict on the phone, by whole seconds: none, 1, 2 and 3, 4 to 7, and so on; in the
  /// last, 2^22 seconds and more.
  package var deliveries = [Int](repeating: 0, count: 24)
  /// Attempts that an entry took: 1, 2, … the last for more.
  package var attempts = [Int](repeating: 0, count: 16)
  /// Entries in a queue when one more came: 0, 1, … the last for more.
  package var lengths = [Int](repeating: 0, count: 65)
  /// In milliseconds.
  package var longestDelivery: Int64 = 0
  package var mostAttempts = 0
  package var longestQueue = 0
  package var purchases = 0

  package init() {}

  package mutating func delivered(after milliseconds: Int64, attempts count: Int) {
    let seconds = UInt64(max(milliseconds, 0) / 1_000)
    deliveries[min(23, 64 - seconds.leadingZeroBitCount)] += 1
    attempts[min(15, max(count, 1) - 1)] += 1
    longestDelivery = max(longestDelivery, milliseconds)
    mostAttempts = max(mostAttempts, count)
  }

  package mutating func queued(behind count: Int) {
    lengths[min(64, max(0, count))] += 1
    longestQueue = max(longestQueue, count)
  }

  package mutating func add(_ other: Figures) {
    for index in deliveries.indices { deliveries[index] += other.deliveries[index] }
    for index in attempts.indices { attempts[index] += other.attempts[index] }
    for index in lengths.indices { lengths[index] += other.lengths[index] }
    longestDelivery = max(longestDelivery, other.longestDelivery)
    mostAttempts = max(mostAttempts, other.mostAttempts)
    longestQueue = max(longestQueue, other.longestQueue)
    purchases += other.purchases
  }
}

/// The events of a run in words.
package struct Story: Sendable {
  package private(set) var lines: [String] = []

  package init() {}

  mutating func add(_ line: String, at now: Int64, event: Int) {
    let seconds = now / 1_000
    let clock = [seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
      .joined(separator: ":")
    let thousandths = String(String(1_000 + now % 1_000).dropFirst())
    lines.append("day \(seconds / 86_400) \(clock).\(thousandths)  \(line)")
  }
}
