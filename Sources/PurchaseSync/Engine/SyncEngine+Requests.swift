import Foundation
import PurchaseQueue

/// The requests that the engine makes of the backend.
extension SyncEngine {
  // MARK: Uploads

  /// One upload: prepare it, take the lane's lease, record the attempt, send. Only what goes out counts as an attempt.
  func upload(_ lane: Lane, _ entries: [Entry]) {
    let generation = open.generation
    run { engine in await engine.upload(lane, entries, generation) }
  }

  private func upload(_ lane: Lane, _ entries: [Entry], _ generation: Int) async {
    saw(.uploadBegins(lane, entries.map(\.key)))
    let result = await uploaded(lane, entries, generation)
    saw(.uploadEnds(lane, entries.map(\.key), result))
  }

  /// Nil if it did not go out for a reason of this device, of which the machine knows.
  private func uploaded(_ lane: Lane, _ entries: [Entry], _ generation: Int) async -> UploadClassification? {
    guard await !askOwners(of: entries, in: lane, generation) else {
      uploadEnded(lane, .failure(.interrupted), generation)
      return nil
    }
    let upload: PreparedUpload
    do throws(SyncError) {
      switch try await prepare(entries, in: lane) {
      case .success(let prepared): upload = prepared
      case .failure(let failure):
        uploadEnded(lane, .failure(failure), generation)
        return .failure(failure)
      }
    } catch {
      uploadNotBegun(lane, error, generation)
      return nil
    }
    guard let lease = begin(lane, generation) else { return nil }
    configuration.checkpoint?(.uploadSending)
    let interval = meter.begin(.upload)
    saw(.calls(.request(.upload)))
    let result = await ports.backend.upload(upload.request, in: lane, from: upload.sender)
      .completingRefunds(by: upload.request)
    meter.end(interval, reason: result.word)
    reportRefusedReplies()
    // Released before the answer is handled: the next upload of this lane takes a lease of its own.
    lease.release()
    decisions.tokens.answered(result, to: upload.sender, at: uptime)
    uploadEnded(lane, result, presented: upload.sender.signedIn, generation)
    return result
  }

  /// Takes the lane's lease and records the attempt. Nil if the request does not go out.
  private func begin(_ lane: Lane, _ generation: Int) -> LaneLease? {
    // A later machine knows nothing of this request.
    guard !isShutDown, open.isOpen(as: generation) else { return nil }
    guard !Task.isCancelled else {
      uploadEnded(lane, .failure(.interrupted), generation)
      return nil
    }
    let taken: LaneLease?
    do throws(SyncError) {
      taken = try withFile { (file) throws(QueueError) in try file.queue.lease(lane) }
    } catch {
      uploadNotBegun(lane, error, generation)
      return nil
    }
    guard let lease = taken else {
      uploadEnded(lane, .failure(.laneTaken), generation)
      return nil
    }
    return begin(lane, with: lease)
  }

  private func begin(_ lane: Lane, with lease: LaneLease) -> LaneLease? {
    do throws(SyncError) {
      let start = try step { (machine, now) throws(QueueError) in
        try machine.attemptBegins(lane: lane, now: now)
      }
      switch start {
      case .send(let actions):
        perform(actions)
        return lease
      case .hold(let actions):
        lease.release()
        perform(actions)
      }
    } catch {
      lease.release()
      report(error)
      lookAgain()
    }
    return nil
  }

  /// A request that is ready to go out.
  struct PreparedUpload {
    var request: UploadRequest
    var sender: BackendSender
  }

  private func prepare(
    _ entries: [Entry], in lane: Lane
  ) async throws(SyncError) -> Result<PreparedUpload, UploadFailure> {
    let body: StoredUpload
    switch try readBody(entries) {
    case .success(let read): body = read
    case .failure(let failure): return .failure(failure)
    }
    let choice = SenderChoice(lane: lane, device: body.device)
    var sender: Result<BackendSender, UploadFailure>?
    if let account = lane.account {
      sender = choice.sender(await credential(of: account), isCancelled: Task.isCancelled)
      if case .failure(let failure) = sender { return .failure(failure) }
    }
    var request = UploadRequest(device: body.device.id, proofs: body.proofs, claims: body.claims)
    if let missing = body.missing {
      let listed = await proofsFromStore()
      // The next list ends the wait of what it holds (`SyncMachine.endProofWait`).
      if listed == nil, !Task.isCancelled { listStore() }
      if let failure = missing.failure(in: listed, isCancelled: Task.isCancelled) { return .failure(failure) }
      request = UploadRequest(
        device: body.device.id, proof: listed?[missing.key].map { ProofDocument($0) }, claims: body.claims)
    }
    if let sender { return sender.map { PreparedUpload(request: request, sender: $0) } }
    // Last: another account may have signed in since.
    var answer = CredentialAnswer.none
    if let account = lane.asker ?? configuration.currentAccount?() {
      answer = decisions.tokens.forDevice(await credential(of: account, isCurrent: true))
    }
    return choice.sender(answer, isCancelled: Task.isCancelled).map {
      PreparedUpload(request: request, sender: $0)
    }
  }

  private func uploadEnded(
    _ lane: Lane, _ result: UploadClassification, presented account: String? = nil, _ generation: Int
  ) {
    configuration.checkpoint?(.uploadReceived)
    feed(generation) { (machine, now) throws(QueueError) in
      switch result {
      case .verdicts(let reply): machine.replyArrived(lane: lane, reply, presented: account, now: now)
      case .failure(let failure): try machine.uploadFailed(lane: lane, failure, now: now)
      }
    }
    if result == .failure(.interrupted) { interrupted(generation) }
    // The outcomes of the orders that waited for the answer.
    if lane.asker != nil, !isShutDown, open.isOpen { announceOutcomes() }
    // The backend answers, so it can receive the rest.
    if case .verdicts = result { sendNotices() }
  }

  /// The file failed before the attempt was recorded. The lane is free again; it is looked at again in a while.
  private func uploadNotBegun(_ lane: Lane, _ error: SyncError, _ generation: Int) {
    saw(.storageFailed)
    report(error)
    feed(generation) { (machine, now) throws(QueueError) in
      try machine.uploadFailed(lane: lane, .interrupted, now: now)
    }
    lookAgain()
  }

  private static let namelessDevice = "the vault that names this device is locked"

  private func readBody(_ entries: [Entry]) throws(SyncError) -> Result<StoredUpload, UploadFailure> {
    var claims: [Claim] = []
    for entry in entries {
      guard let details = EntryDetails(of: entry).known else {
        return .failure(.unreadable(entry.key, reason: "its stored details cannot be read"))
      }
      claims.append(details.claim(orderNumber: entry.orderNumber))
    }
    return try withFile { (file) throws(QueueError) in
      for index in claims.indices {
        guard let number = claims[index].orderNumber else { continue }
        claims[index].order = try file.deviceOrder(number)
      }
      guard let device = try identity(in: file) else {
        saw(.storageFailed)
        return .failure(.unprepared(reason: Self.namelessDevice))
      }
      // A damaged proof has become one by reference. The entry goes alone from now on: choose again.
      guard let stored = try StoredUpload(of: entries, claims, device: device, in: file) else {
        return .failure(.interrupted)
      }
      return .success(stored)
    }
  }

  // MARK: Adoptions

  func adopt(for account: String) {
    let generation = open.generation
    run { engine in
      let end = await engine.adoptionEnd(for: account)
      if case .failed(let failure) = end { await engine.saw(.adoptionFailed(failure)) }
      await engine.feed(generation) { (machine, now) throws(QueueError) in
        try machine.adoptionEnded(account: account, end, now: now)
      }
      if end == .failed(.interrupted) { await engine.interrupted(generation) }
    }
  }

  /// While the credentials were fetched, another request may have been answered with a Retry-After.
  func isPaused() throws(SyncError) -> Bool {
    try step { (machine, now) throws(QueueError) in try machine.isPaused(now: now) }
  }

  private static let paused = "the backend asked for a pause"

  private func adoptionEnd(for account: String) async -> AdoptionEnd {
    let credential = await credential(of: account)
    guard case .token(let token) = credential else {
      return .failed(credential.failure(in: .account(account), isCancelled: Task.isCancelled))
    }
    let device: DeviceIdentity
    do throws(SyncError) {
      guard let known = try withFile({ (file) throws(QueueError) in try identity(in: file) }) else {
        return .failed(.unprepared(reason: Self.namelessDevice))
      }
      if try isPaused() { return .failed(.unprepared(reason: Self.paused)) }
      device = known
    } catch {
      return .failed(.retry(reason: "the device has no name", retryAfterMilliseconds: nil))
    }
    configuration.checkpoint?(.adoptionSending)
    saw(.calls(.request(.adoption)))
    let end = await ports.backend.adopt(device, by: token)
    reportRefusedReplies()
    configuration.checkpoint?(.adoptionAnswered)
    decisions.tokens.answered(end, to: token, at: uptime)
    return end
  }
}

/// The stored part of one upload: the claims, and the proofs whose bytes are in the file, each once.
struct StoredUpload {
  /// An entry whose proof is not in the file. It goes alone.
  struct Missing {
    var key: EntryKey
    /// It is an update of a settled transaction. If the store does not list it, the backend asks by id.
    var isUpdate: Bool

    /// Why the upload does not go, with what the store lists; nil if the store did not answer: then nothing is concluded. An
    /// update is finished at the store, which will not list it again: the backend asks the store by id.
    func failure(in listed: [EntryKey: Payload]?, isCancelled: Bool) -> UploadFailure? {
      if listed?[key] != nil { return nil }
      if isCancelled { return .interrupted }
      return isUpdate && listed != nil ? nil : .proofMissing
    }
  }

  var device: DeviceIdentity
  var proofs: [ProofDocument] = []
  var claims: [Claim]
  var missing: Missing?

  /// Reads the proofs of the entries. Nil if the bytes of one of several are not here.
  init?(
    of entries: [Entry], _ claims: [Claim], device: DeviceIdentity, in file: SyncFile
  ) throws(QueueError) {
    self.device = device
    self.claims = claims
    var places: [PayloadReference: Int] = [:]
    for (index, entry) in entries.enumerated() where !entry.payloads.isEmpty {
      if let place = entry.preferredProof.flatMap({ places[$0] }) {
        self.claims[index].proof = place
      } else if let (reference, proof) = try Self.proof(of: entry, in: file) {
        places[reference] = proofs.count
        self.claims[index].proof = proofs.count
        proofs.append(ProofDocument(proof))
      } else {
        guard entries.count == 1 else { return nil }
        missing = Missing(key: entry.key, isUpdate: try file.queue.tombstone(entry.key) != nil)
      }
    }
  }

  private static func proof(
    of entry: Entry, in file: SyncFile
  ) throws(QueueError) -> (PayloadReference, Payload)? {
    for reference in entry.proofsByPreference {
      if let proof = try file.queue.payload(reference) { return (reference, proof) }
    }
    return nil
  }
}
