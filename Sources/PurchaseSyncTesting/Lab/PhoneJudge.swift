import PurchaseQueue
import PurchaseSync
import VirtualTime

/// Judges what the app on one phone of a lab keeps of two promises: what can be delivered is delivered in time, and nothing
/// runs without a pace. Pure: each call gets the moment, in milliseconds of the lab's time.
struct PhoneJudge: Sendable {
  /// A purchase in the queue.
  private struct Row {
    var lane: Lane
    var arrival: Int64
    /// The backend answered without settling it, or it was postponed: its own matter from then on.
    var isAside = false
  }

  private struct LaneTime {
    var deadline = DeliveryDeadline()
    /// Its account has to sign in.
    var isBlocked = false
    /// When the upload began that is under way. What comes of it is known at its end.
    var began: Int64?
  }

  /// An engine of a launch.
  private struct Engine: Hashable {
    var launch: Int
    var id: ObjectIdentifier
  }

  private let name: String
  private var isOffline = false
  private var isSuspended = false
  private var launches = 0
  private var running: Set<Int> = []
  private var engines: Set<Engine> = []
  private var policy = RetryPolicy()
  private var rows: [EntryKey: Row] = [:]
  private var lanes: [Lane: LaneTime] = [:]
  /// Until when the backend may have asked to wait.
  private var floor = Int64.min
  private var firstDue = Int64.max

  private var meter = PaceMeter<PaceLimits.Kind>()
  /// Launches, purchases and orders of the last minute: each brings calls of its own.
  private var acts: [Int64] = []
  private var known: Set<String> = []
  private var given: Set<Outcome> = []

  /// The first promise that was broken.
  private(set) var broken: AppLabError?
  private(set) var deliveries: [LabFigures.Delivery] = []

  init(name: String) { self.name = name }

  func most(of kind: PaceLimits.Kind) -> Int { meter.most(of: kind) }

  // MARK: The phone

  /// The app is launched. Returns the number of the launch.
  mutating func launched() -> Int {
    launches += 1
    running.insert(launches)
    return launches
  }

  mutating func isOffline(_ isOffline: Bool, at now: Int64) {
    check(at: now)
    self.isOffline = isOffline
    observe(at: now)
  }

  /// The app of a launch has ended, in the middle of its work.
  mutating func ended(_ launch: Int, at now: Int64) {
    check(at: now)
    running.remove(launch)
    engines = engines.filter { $0.launch != launch }
    (rows, lanes, isSuspended, given) = ([:], [:], false, [])
    observe(at: now)
  }

  // MARK: The app

  mutating func saw(_ sight: EngineSight, in launch: Int, at now: Int64) {
    // What a dead app still releases is nothing that it does.
    guard running.contains(launch) else { return }
    check(at: now)
    switch sight {
    case .opened(let id, let policy, let queued):
      self.policy = policy
      engines.insert(Engine(launch: launch, id: id))
      acts.append(now)
      rows = queued.mapValues { Row(lane: $0, arrival: now) }
      for lane in queued.values { lanes[lane] = LaneTime() }
    case .closed(let id):
      // What the other one knows, this one may have settled.
      if engines.remove(Engine(launch: launch, id: id)) != nil { rows = [:] }
    case .suspended: isSuspended = true
    case .woken(let reason): woken(reason, at: now)
    case .event(let event): saw(event, at: now)
    case .discarded(let key): rows[key] = nil
    case .storageFailed: interrupt(.storage, at: now)
    case .calls(let call): count(call, at: now)
    case .uploadBegins(let lane, let keys):
      lanes[lane, default: LaneTime()].began = now
      lanes[lane]?.isBlocked = false
      for key in keys { rows[key]?.lane = lane }
    case .uploadEnds(let lane, let keys, let result): ended(lane, keys, result, at: now)
    case .adoptionFailed(let failure): ended(nil, failure, at: now)
    }
    observe(at: now)
  }

  private mutating func woken(_ reason: WakeReason, at now: Int64) {
    if reason == .foreground { isSuspended = false }
    if case .signedIn(let account) = reason {
      for lane in lanes.keys where lane.owner == account { lanes[lane]?.isBlocked = false }
    }
    observe(at: now)
    for lane in lanes.keys where floor <= now {
      if case .signedIn(let account) = reason, lane != .device, lane.owner != account { continue }
      lanes[lane]?.deadline.woken(at: now)
    }
  }

  private mutating func saw(_ event: SyncEvent, at now: Int64) {
    switch event {
    case .queued(let key, let match):
      acts.append(now)
      rows[key] = Row(lane: match.lane, arrival: now)
      lanes[match.lane] = lanes[match.lane] ?? LaneTime()
    case .delivered(let outcome), .settled(let outcome): settled(outcome.key, at: now)
    case .postponed(let key, _, _), .quarantined(let key, _): rows[key]?.isAside = true
    case .signInNeeded(let lane): lanes[lane, default: LaneTime()].isBlocked = true
    case .failed(.queue), .recovered: interrupt(.storage, at: now)
    default: break
    }
  }

  private mutating func settled(_ key: EntryKey, at now: Int64) {
    guard let row = rows.removeValue(forKey: key) else { return }
    let due = lanes[row.lane]?.deadline.due(bounds, arrival: row.arrival, floor: floor)
    deliveries.append(
      LabFigures.Delivery(
        phone: name, transactionID: key.transactionID, after: .milliseconds(now - (due?.since ?? now))))
  }

  // MARK: Obstacles

  private mutating func ended(
    _ lane: Lane, _ keys: [EntryKey], _ result: UploadClassification?, at now: Int64
  ) {
    let began = lanes[lane]?.began ?? now
    lanes[lane]?.began = nil
    switch result {
    case .verdicts(let reply):
      if let pause = reply.pauseMilliseconds { asked(pause, at: now) }
      for key in keys { rows[key]?.isAside = true }
    case .failure(let failure): ended(lane, failure, at: now)
    case nil: break
    }
    // Nothing of the engine takes so long: the network did, the app, or the backend.
    if now - began >= Self.slow { interrupt(.network, in: lane, at: now) }
  }

  /// A request that takes longer shows a network, a backend or an app that is slow.
  private static var slow: Int64 { 5_000 }

  private mutating func ended(_ lane: Lane?, _ failure: UploadFailure, at now: Int64) {
    switch failure {
    case .retry(_, let wait), .requestFailed(_, let wait), .backendBusy(_, let wait):
      if let wait { asked(wait, at: now) }
      interrupt(.backend, at: now)
    case .backendFault, .otherProtocol, .tokenRefused, .accountRefused, .laneTaken, .proofMissing,
      .unreadable:
      interrupt(.refused, in: lane, at: now)
    // Missing credentials are an event of their own. What was not sent for another reason is due all the same.
    case .signInNeeded, .unprepared, .interrupted: break
    }
  }

  private mutating func asked(_ milliseconds: Int64, at now: Int64) {
    let asked = min(max(milliseconds, 0), policy.horizonMilliseconds)
    floor = max(floor, now + asked + asked / 100 * policy.retryAfterJitterPercent)
  }

  /// An obstacle that shows only now, and that may be gone. Nil: of all lanes.
  private mutating func interrupt(_ obstacle: Obstacles, in lane: Lane? = nil, at now: Int64) {
    for name in lanes.keys where lane == nil || name == lane {
      lanes[name]?.deadline.observe(obstacle, at: now)
    }
    // A backend in the process answers in the millisecond in which the purchase came: it came before all the same.
    for key in rows.keys where rows[key]?.arrival == now { rows[key]?.arrival = now - 1 }
  }

  private mutating func observe(at now: Int64) {
    var shared: Obstacles = []
    if isOffline { shared.insert(.network) }
    if engines.count != 1 || isSuspended { shared.insert(.background) }
    firstDue = .max
    let held = Set(rows.values.lazy.map(\.lane))
    for lane in lanes.keys {
      guard let isBlocked = lanes[lane]?.isBlocked else { continue }
      lanes[lane]?.deadline.observe(isBlocked ? shared.union(.credentials) : shared, at: now)
      guard held.contains(lane), let earliest = lanes[lane]?.deadline.earliest(bounds) else { continue }
      firstDue = min(firstDue, earliest)
    }
  }

  // MARK: Deadlines

  /// The purchases before one take a request each, at the pace after an outage.
  private var bounds: DeliveryBounds {
    let others = Int64(max(0, rows.count - 1)) * (max(policy.paceMilliseconds, 0) + 100)
    var bounds = DeliveryBounds(alone: policy.deliveryBoundMilliseconds.addingUpTo(9_000 + others))
    bounds.afterWake = max(bounds.afterWake, policy.wakeBoundMilliseconds + 9_000) + others
    return bounds
  }

  /// What is late now?
  mutating func check(at now: Int64) {
    guard now > firstDue, broken == nil else { return }
    let bounds = self.bounds
    for (key, row) in rows.sorted(by: { EntryKey.isBefore($0.key, $1.key) }) where !row.isAside {
      guard let lane = lanes[row.lane],
        let due = lane.deadline.due(bounds, arrival: row.arrival, floor: floor)
      else { continue }
      guard min(now, lane.began ?? now) > due.at else { continue }
      broken = .late(
        phone: name, transactionID: key.transactionID, after: .milliseconds(now - due.since),
        isWoken: due.isWoken)
      return
    }
  }

  // MARK: Paces

  private mutating func count(_ call: EngineSight.Call, at now: Int64) {
    switch call {
    case .request(let request):
      // Each order is a request of its own, once.
      if case .order(let order) = request, known.insert(order).inserted { acts.append(now) }
      if request == .upload { pace(.upload, at: now) }
      pace(.request, at: now)
    case .store: pace(.store, at: now)
    case .credentials: pace(.credentials, at: now)
    // An outcome that the app gets for the first time is none that comes again and again.
    case .fulfil(let outcome): if !given.insert(outcome).inserted { pace(.fulfil, at: now) }
    }
  }

  private mutating func pace(_ kind: PaceLimits.Kind, at now: Int64) {
    let count = meter.count(kind, at: now)
    guard count > kind.limit else { return }
    acts.removeAll { now - $0 >= 60_000 }
    guard count > kind.limit + Self.callsOfAct * acts.count, broken == nil else { return }
    broken = .unpaced(phone: name, calls: kind.words, perMinute: count)
  }

  /// The most calls of a kind for one launch, order or purchase.
  private static var callsOfAct: Int { 5 }
}

extension Lane {
  /// The account whose credentials it needs.
  fileprivate var owner: String? { account ?? asker }
}

extension Int64 {
  fileprivate func addingUpTo(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? .max : sum
  }
}
