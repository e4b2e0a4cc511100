import PurchaseQueue

/// Which entries a lane sends next, and when.
extension LaneState {
  /// Reserves the lane for its head and the entries behind it that fit into one upload, if the lane is idle and would be
  /// admitted. Else asks for a wake-up. Throws before anything has changed.
  mutating func sendNext(
    _ lane: Lane, from storage: some LaneStorage & AttemptStorage, _ retry: inout RetryLedger, now: Timestamp,
    policy: RetryPolicy, into actions: inout [SyncAction]
  ) throws(QueueError) {
    if activity == .signInNeeded {
      guard let due = signIn.opensAt(now: now) else { return }
      guard due <= now else {
        // Postponed entries count too: after the clock went back, they may have no timer of their own any more.
        guard try !storage.readyEntries(in: lane, now: .distantFuture, limit: 1).isEmpty else { return }
        return actions.append(.wake(at: due))
      }
      endSignInWait()
    }
    guard activity == .idle else { return }
    let ready = try storage.readyEntries(
      in: lane, now: now, limit: UploadRequest.mostClaims, dueFirst: sendsDueFirst)
    guard let head = ready.first else {
      guard let next = try storage.nextReadyAt(in: lane) else { return }
      let due = policy.bounded(next, after: now)
      // Another process of this installation had another clock.
      if due < next { try retry.boundWaits(in: storage, now: now, policy: policy) }
      return actions.append(.wake(at: due))
    }
    try retry.read(from: storage)
    let isRepeat = head.attempts > 0 || head.readyAt.milliseconds != 0
    switch retry.admission(of: backoff, for: purpose, isRepeat: isRepeat, now: now, policy: policy) {
    case .wait(let until): actions.append(.wake(at: policy.bounded(until, after: now)))
    case .send:
      let run = try run(headedBy: head, ready, storage)
      retry.reserved(by: backoff, for: purpose, isRepeat: isRepeat, now: now)
      reserve(run)
      actions.append(.send(lane: lane, entries: run))
    }
  }

  /// The request is prepared, and the lane's lease is taken. Decides again, because time has passed, and commits the
  /// attempt together with its cost. False if the request may not go out now; the lane is idle then, also if this throws.
  mutating func beginAttempt(
    of lane: Lane, in storage: some LaneStorage & AttemptStorage, _ retry: inout RetryLedger,
    isSuspended: Bool = false, now: Timestamp, policy: RetryPolicy
  ) throws(QueueError) -> Bool {
    guard let request = inFlight, !request.hasBegun else {
      preconditionFailure("an attempt of a lane that is not reserved")
    }
    stopped()
    guard !isSuspended else { return false }
    // Another process of this installation may have settled, postponed or quarantined entries, and the app may have
    // discarded some, while the request was prepared.
    let keys = request.entries.map(\.key)
    let ready = try storage.readyEntries(in: lane, now: now, limit: keys.count, dueFirst: sendsDueFirst)
    guard ready.map(\.key) == keys else { return false }
    try retry.read(from: storage)
    let admission = retry.admission(of: backoff, for: purpose, now: now, policy: policy)
    guard case .send(let admitted) = admission else { return false }
    try retry.recordAttempt(of: keys, admitted, in: storage, now: now)
    begin(request)
    return true
  }

  /// The head and the entries behind it that go into one upload. An entry that failed together with others goes with
  /// fewer of them each time, until it goes alone (`PoisonWatch.claimsPerUpload`).
  private func run(
    headedBy head: Entry, _ ready: [Entry], _ storage: some AttemptStorage
  ) throws(QueueError) -> [Entry] {
    // References to proofs that are not here compare equal by their size alone, and one that the store does not list
    // would hold up the others.
    guard ready.count > 1, !head.isByReference else { return [head] }
    var load = UploadLoad()
    var most = mostClaims
    var run: [Entry] = []
    for entry in ready {
      most = min(most, try claimsPerUpload(with: entry, storage))
      guard run.count < most, !entry.isByReference, load.takes(entry) || run.isEmpty else { break }
      // Two entries with one name on the wire go in two uploads: a verdict could be about either.
      if entry.key.hasDate, run.contains(where: { $0.key.hasSameWireName(as: entry.key) }) { break }
      run.append(entry)
    }
    return run
  }

  private func claimsPerUpload(with entry: Entry, _ storage: some AttemptStorage) throws(QueueError) -> Int {
    guard entry.attempts > 0 else { return UploadRequest.mostClaims }
    let watch = try storage.watch(of: entry.key)
    // One that got no answer alone takes no others with it.
    return watch.failedRounds > 0 ? max(watch.claimsPerUpload, provenClaims) : watch.claimsPerUpload
  }

  /// The activity of the lane, for a screen. `reason` is the last reported reason to wait, if there was one. Changes
  /// nothing.
  func status(
    of lane: Lane, in storage: some LaneStorage, _ retry: RetryLedger, isSuspended: Bool, reason: String?,
    now: Timestamp, policy: RetryPolicy
  ) throws(QueueError) -> LaneStatus.State {
    switch activity {
    case .inFlight: return .uploading
    case .signInNeeded: return .signInNeeded
    case .idle: break
    }
    if isSuspended { return .suspended }
    guard try !storage.readyEntries(in: lane, now: now, limit: 1).isEmpty else {
      let next = try storage.nextReadyAt(in: lane) ?? now
      return .waiting(until: policy.bounded(next, after: now), reason: "each of its entries is postponed")
    }
    switch retry.admission(of: backoff, for: purpose, now: now, policy: policy) {
    case .send: return .ready
    case .wait(let until):
      let known = backoff.failures > 0 ? reason : nil
      return .waiting(
        until: policy.bounded(until, after: now), reason: known ?? "the backend fails, or asked for a pause")
    }
  }
}

/// How much an upload carries, while entries are added to it. A proof that several entries share counts once.
struct UploadLoad: Hashable {
  /// The most bytes of one upload's body: 4 MiB. An entry whose proof alone is longer goes alone.
  static var mostBytes: Int { 4 << 20 }
  /// What one claim takes apart from its proof, and more.
  private static var bytesPerClaim: Int { 512 }

  private(set) var bytes = 0
  private var proofs: Set<PayloadReference> = []

  /// Adds an entry, if the upload has space for it.
  mutating func takes(_ entry: Entry) -> Bool {
    var more = Self.bytesPerClaim
    let proof = entry.preferredProof
    if let proof, !proofs.contains(proof) { more += proof.bytesOnTheWire }
    guard bytes + more <= Self.mostBytes else { return false }
    bytes += more
    if let proof { proofs.insert(proof) }
    return true
  }
}

extension Entry {
  /// Its proofs in the order in which they are tried. An app receipt last: it may lack the transaction that it came with,
  /// and stays as it is once its Apple ID is gone.
  var proofsByPreference: [PayloadReference] {
    payloads.sorted { !$0.isAppReceipt && $1.isAppReceipt }
  }

  /// The proof that an upload carries; nil if the entry never had one.
  var preferredProof: PayloadReference? { proofsByPreference.first { !$0.isByReference } ?? payloads.first }

  /// Whether it has proofs, and the bytes of none of them are in the file.
  var isByReference: Bool { !payloads.isEmpty && payloads.allSatisfy(\.isByReference) }
}

extension PayloadReference {
  /// A signed transaction goes verbatim, everything else in base64.
  fileprivate var bytesOnTheWire: Int {
    kind == ProofKind.signedTransaction.rawValue ? size : (size / 3 + 1) * 4
  }
}
