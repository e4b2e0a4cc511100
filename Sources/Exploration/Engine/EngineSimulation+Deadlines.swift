import PurchaseQueue
import PurchaseSync
import Specification
import VirtualTime

/// Invariants 40 and 41: what the first phone's queue holds and can be delivered is delivered in time.
extension EngineSimulation {
  /// The policy says nothing of the time that requests take.
  var bounds: DeliveryBounds { DeliveryBounds(alone: RetryPolicy().deliveryBoundMilliseconds + 9_000) }

  private static let lanes = [Lane.device.rawValue] + Names.accounts.map { Lane.account($0).rawValue }

  /// The only process that works on the first phone's file; nil if there is none, or if there are two.
  private var onlyProcess: EngineProcess? {
    let alive = processes.filter { !$0.hasEnded }
    return alive.count == 1 && alive[0].isRunning ? alive[0] : nil
  }

  func noteArrival(of key: String) {
    arrivals[key] = queue.now
    if onlyProcess == nil { unknownEntries.insert(key) } else { unknownEntries.remove(key) }
  }

  // MARK: Obstacles

  /// To be called after each job and each timer.
  func observeDeadlines() {
    firstDue = .max
    let shared = obstacles
    for (place, lane) in Self.lanes.enumerated() {
      let isSignedIn = place == 0 || !signedOut.contains(Names.accounts[place - 1])
      deadlines[place].observe(isSignedIn ? shared : shared.union(.credentials), at: queue.now)
      guard let earliest = deadlines[place].earliest(bounds),
        watch?.content.rows.values.contains(where: { $0.lane == lane }) ?? false
      else { continue }
      firstDue = min(firstDue, earliest)
    }
  }

  /// The file is replaced: the engine opens it again.
  func restartDeadlines() {
    for place in deadlines.indices { deadlines[place].observe(.storage, at: queue.now) }
  }

  private var obstacles: Obstacles {
    var found: Obstacles = []
    if isOffline || struckRequests > 0 { found.insert(.network) }
    if !isHealed {
      if knobs.network > 0 { found.insert(.network) }
      if knobs.store > 0 { found.insert(.unlisted) }
      if knobs.credentials > 0 { found.insert(.credentials) }
      if !temptations.isEmpty { found.insert(.backend) }
    }
    if hangingCalls > 0 { found.insert(.callbacks) }
    if boundariesLeft != nil || watch == nil { found.insert(.storage) }
    // A queue that stalls lets time pass although a job is ready.
    guard queue.stalls == 0, let app = onlyProcess, !app.isSuspended, app.suspending == 0 else {
      return found.union(.background)
    }
    return found
  }

  /// Until when the backend may have asked the first phone to wait: its file outlives its processes.
  private var latestFloor: Int64 { processes.map(\.latestFloor).max() ?? 0 }

  // MARK: Wakes

  /// The engine knows of a wake; nil for the account of all lanes. A sign-in wakes the device's lane, too.
  func noteWake(of process: EngineProcess, account: String? = nil) {
    guard process.phone == nil else { return }
    if onlyProcess != nil { unknownEntries = [] }
    observeDeadlines()
    for place in deadlines.indices where latestFloor <= queue.now {
      guard account == nil || place == 0 || place == Names.account(account ?? "") + 1 else { continue }
      deadlines[place].woken(at: queue.now)
    }
  }

  func noteWake(of process: EngineProcess, _ reason: WakeReason) {
    if case .signedIn(let account) = reason { return noteWake(of: process, account: account) }
    noteWake(of: process)
  }

  // MARK: Deadlines

  /// Checks what can be late by now.
  func checkDeadlines() {
    guard queue.now > firstDue, let content = watch?.content else { return }
    for (key, row) in content.rows.sorted(by: { $0.key < $1.key }) where content.stones[key] == nil {
      checkDeadline(of: key, row)
    }
  }

  /// Checks an entry that is queued, or was until now.
  func checkDeadline(of key: String, _ row: FileWatch.Row) {
    let sale = Names.transaction(EntryKey(rawValue: key))
    guard row.isQueued, onlyProcess != nil, !unknownEntries.contains(key),
      let place = Self.lanes.firstIndex(of: row.lane),
      isDeliverable(sale, deadlines[place]),
      let due = deadlines[place].due(bounds, arrival: arrivals[key] ?? .min, floor: latestFloor)
    else { return }
    checker.expect(
      due.isWoken ? .promptAfterWake : .promptAlone, queue.now <= due.at,
      "\(key) can be delivered since \((queue.now - due.since) / 1_000) s, and is queued")
  }

  private func isDeliverable(_ sale: Int, _ deadline: DeliveryDeadline) -> Bool {
    guard store.sales.indices.contains(sale), !discarded.contains(sale) else { return false }
    return leftOpen[sale].map { $0 < deadline.ableSince ?? .min } ?? true
  }

  // MARK: Paces

  /// Invariant 42: nothing runs without a pace, no engine and no phone. The app, its extension and each process that was
  /// launched again have an engine of their own.
  private func paced(_ kind: PaceLimits.Kind, _ process: EngineProcess) {
    guard process.phone == nil else { return }
    let (own, all) = (process.meter.count(kind, at: queue.now), meter.count(kind, at: queue.now))
    checker.expect(.paced, own <= kind.limit, "\(process.name): \(own) \(kind.words) in a minute")
    let window = PaceMeter<PaceLimits.Kind>.window
    let engines = processes.count { queue.now - ($0.endedAt ?? queue.now) < window }
    checker.expect(
      .paced, all <= kind.limit(of: engines), "\(engines) engines: \(all) \(kind.words) in a minute")
  }

  func countStoreCall(_ process: EngineProcess) { paced(.store, process) }
  func countQuestion(_ process: EngineProcess) { paced(.credentials, process) }
  /// An outcome is given to the app.
  func countOutcome(_ process: EngineProcess) { paced(.fulfil, process) }
  func countRequest(_ process: EngineProcess, isUpload: Bool) {
    paced(.request, process)
    if isUpload { paced(.upload, process) }
  }
}
