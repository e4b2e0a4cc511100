import PurchaseQueue

/// The lanes of an installation. A lane that is not in the table is idle and has not failed.
struct LaneTable {
  private var states: [Lane: LaneState] = [:]
  /// The lanes that something came for while lanes are held; nil while none is held.
  private var held: [Lane]?

  subscript(lane: Lane) -> LaneState {
    get { states[lane] ?? LaneState() }
    set { states[lane] = newValue }
  }

  /// In a fixed order: waking a lane draws a random number, and a seed has to give the same run each time.
  private var names: [Lane] { states.keys.sorted { $0.rawValue.hasBytes(before: $1.rawValue) } }

  var hasInFlight: Bool { states.values.contains { $0.inFlight != nil } }

  /// Lanes that an earlier run left. Each goes on with as many failures as its head has attempts: an app that dies at
  /// each launch must not send at each launch. `isFailing`: whether the backend was failing then. The start is a wake.
  mutating func start(
    from storage: some LaneStorage, isFailing: Bool, now: Timestamp, _ delays: inout Delays
  ) throws(QueueError) {
    let shortened = try storage.shortenWaits(now: now, policy: delays.policy)
    for lane in try storage.lanes() {
      let head = try storage.readyEntries(in: lane, now: .distantFuture, limit: 1).first
      states[lane] = LaneState(
        backoff: LaneBackoff(
          attempts: head?.attempts ?? 0, attemptedAt: head?.attemptedAt, isFailing: isFailing, now: now,
          policy: delays.policy, using: &delays.random))
      if shortened.contains(lane) { self[lane].wake(for: .retry, hasShortened: true, now: now, &delays) }
    }
  }

  /// Ends the waits of lanes and entries, as far as the backend did not ask for them. If those of entries cannot be read or
  /// written, the lanes are woken all the same, and it throws at the end.
  mutating func woken(
    _ reason: WakeReason, in storage: some LaneStorage, now: Timestamp, _ delays: inout Delays
  ) throws(QueueError) {
    var lanes = Set(names)
    // An upload of the device shows the token of the account, too.
    if case .signedIn(let account) = reason { lanes = [.account(account), .question(of: account), .device] }
    // Credentials do not come with a network.
    if reason == .networkBack { lanes = lanes.filter { self[$0].activity != .signInNeeded } }
    let isAboutAll = if case .signedIn = reason { false } else { true }
    let result: Result<Set<Lane>, QueueError>
    do throws(QueueError) {
      // What a person asks for goes at once, also in a lane that nothing has come for since the start.
      if reason == .userAsked { lanes.formUnion(try storage.lanes()) }
      result = .success(
        try storage.shortenWaits(in: isAboutAll ? nil : Array(lanes), now: now, policy: delays.policy))
    } catch {
      result = .failure(error)
    }
    let shortened = if case .success(let lanes) = result { lanes } else { Set<Lane>() }
    for lane in lanes.union(shortened).sorted(by: { $0.rawValue.hasBytes(before: $1.rawValue) }) {
      self[lane].wake(
        for: reason.purpose, hasShortened: shortened.contains(lane), now: now, &delays)
      self[lane].endedEntryWaits()
      if case .signedIn = reason { self[lane].signedIn() }
    }
    _ = try result.get()
  }

  /// The backend answers again: what waited for that in other lanes is sent, by the pace. No jitter spreads it: of all
  /// devices, this one has just been answered.
  mutating func reached(excluding lane: Lane?, now: Timestamp, _ delays: inout Delays) {
    for other in names where other != lane && self[other].activity == .idle {
      self[other].reached(now: now, &delays)
    }
  }

  /// Whether an upload is being prepared whose attempt has not begun.
  var hasReserved: Bool { states.values.contains { $0.inFlight?.hasBegun == false } }

  // MARK: Holding

  /// Several events come together: no lane sends before the last of them.
  mutating func hold() { held = held ?? [] }

  /// Whether the lane must not send now. It is looked at when the lanes are let go.
  mutating func isHeld(_ lane: Lane) -> Bool {
    guard let held else { return false }
    if !held.contains(lane) { self.held = held + [lane] }
    return true
  }

  /// The lanes that something came for, in the order in which it came.
  mutating func letGo() -> [Lane] {
    defer { held = nil }
    return held ?? []
  }

  // MARK: Events

  /// The app discarded an entry, in whichever lane it is.
  mutating func discarded(_ key: EntryKey) {
    for lane in states.keys { states[lane]?.discarded(key) }
  }

  mutating func follow(_ jump: ClockJump) {
    for lane in states.keys { states[lane]?.follow(jump) }
  }

  mutating func clamp(now: Timestamp) {
    for lane in states.keys { states[lane]?.clamp(now: now) }
  }
}
