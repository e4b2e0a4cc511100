import Foundation
import PurchaseQueue

/// The requests that the engine makes of the backend.
extension SyncEngine {
  // MARK: Uploads

  func upload(_ lane: Lane, _ entries: [Entry]) {
    let generation = self.generation
    // Before the lane is taken: the next upload of it begins within this call.
    if let unreadable = Self.unreadable(entries) {
      return uploadEnded(lane, .failure(unreadable), generation)
    }
    let upload: Upload
    let lease: LaneLease
    do throws(SyncError) {
      guard let free = try withFile({ (file) throws(QueueError) in try file.queue.lease(lane) }) else {
        return uploadEnded(lane, .failure(.laneTaken), generation)
      }
      lease = free
      guard let prepared = try prepare(entries) else {
        lease.release()
        return uploadEnded(lane, .failure(.unprepared(reason: Self.namelessDevice)), generation)
      }
      upload = prepared
    } catch {
      report(error)
      uploadEnded(lane, .failure(.interrupted), generation)
      return lookAgain()
    }
    configuration.hook?("upload.sending")
    run { engine in
      let result = await engine.send(upload, lane)
      // Until here: the next upload of this lane takes a lease of its own.
      lease.release()
      await engine.uploadEnded(lane, result, generation)
      if result == .failure(.interrupted) { await engine.interrupted(generation) }
    }
  }

  /// One upload: the claims of a head and its run, and their common proof, if its bytes are here.
  private struct Upload {
    /// The head's.
    var key: EntryKey
    var device: UUID
    var proof: Proof?
    /// Whether the backend is to ask the store by id: an entry that never had a proof.
    var needsNoProof: Bool
    /// Whether it can, if the store lets go of the proof: all of it was settled here before, and there is news of it.
    var isUpdate: Bool
    var claims: [Claim]
  }

  private func send(_ upload: Upload, _ lane: Lane) async -> UploadClassification {
    let credential = await credential(of: lane)
    guard case .authorization(let authorization) = credential else {
      return .failure(Self.failure(of: credential, in: lane))
    }
    var proof = upload.proof
    if proof == nil, !upload.needsNoProof {
      let listed = await proofsFromStore()
      proof = listed?[upload.key]
      // Queued by reference, and the store does not hold the transaction just now. Of an update it was told at once that
      // it is done, and never will again: the backend asks by id, also about what somebody gave up before it was seen
      // there. A store that did not answer says nothing.
      guard proof != nil || upload.isUpdate && listed != nil && !Task.isCancelled else {
        return .failure(Task.isCancelled ? .interrupted : .proofMissing)
      }
    }
    let request = UploadRequest(
      device: upload.device, proof: proof.map { ProofDocument($0) }, claims: upload.claims)
    return await BackendClient(transport: transport).upload(
      request, authorization: authorization, lane: lane, now: configuration.now)
  }

  private func uploadEnded(_ lane: Lane, _ result: UploadClassification, _ generation: Int) {
    configuration.hook?("upload.received")
    feed(generation) { (machine, now) throws(QueueError) in
      switch result {
      case .verdicts(let reply): machine.replyArrived(lane: lane, reply, now: now)
      case .failure(let failure): try machine.uploadFailed(lane: lane, failure, now: now)
      }
    }
  }

  /// The first of them of which nothing can be sent.
  private static func unreadable(_ entries: [Entry]) -> UploadFailure? {
    for entry in entries {
      do throws(QueueError) {
        _ = try TransactionDetails(text: entry.details, key: entry.key)
      } catch {
        return .unreadable(entry.key, reason: "what is stored with it cannot be read")
      }
    }
    return nil
  }

  private static let namelessDevice = "the vault that names this device is locked"

  /// Nil while the device has no name.
  private func prepare(_ entries: [Entry]) throws(SyncError) -> Upload? {
    try withFile { (file) throws(QueueError) in
      guard let head = entries.first else { throw .invalid(what: "an upload of nothing") }
      var claims: [Claim] = []
      for entry in entries {
        let details = try TransactionDetails(text: entry.details, key: entry.key)
        claims.append(details.claim(orderNumber: entry.orderNumber))
      }
      guard let device = try file.device(proposing: configuration.surroundings.uuid()) else { return nil }
      let proof = try Self.proof(of: head, in: file)
      let isMissing = proof == nil && !head.proofs.isEmpty
      return Upload(
        key: head.key, device: device, proof: proof, needsNoProof: head.proofs.isEmpty,
        isUpdate: isMissing ? try Self.areUpdates(entries, in: file) : false, claims: claims)
    }
  }

  private static func areUpdates(_ entries: [Entry], in file: SyncFile) throws(QueueError) -> Bool {
    for entry in entries where try file.queue.tombstone(entry.key) == nil { return false }
    return true
  }

  /// An app receipt last: it may lack the transaction that it came with, and stays as it is once its Apple ID is gone.
  private static func proof(of entry: Entry, in file: SyncFile) throws(QueueError) -> Proof? {
    for reference in entry.proofs.sorted(by: { !$0.isAppReceipt && $1.isAppReceipt }) {
      if let proof = try file.queue.proof(reference) { return proof }
    }
    return nil
  }

  // MARK: Claims of what the device bought

  func claim(for account: String) {
    let generation = self.generation
    run { engine in
      let end = await engine.claimEnd(for: account)
      await engine.feed(generation) { (machine, now) throws(QueueError) in
        try machine.claimEnded(account: account, end, now: now)
      }
      if end == .failed(.interrupted) { await engine.interrupted(generation) }
    }
  }

  private func claimEnd(for account: String) async -> ClaimEnd {
    let credential = await credential(of: account)
    guard case .authorization(let authorization) = credential else {
      return .failed(Self.failure(of: credential, in: .account(account)))
    }
    let body: Data
    do {
      guard
        let device = try withFile({ (file) throws(QueueError) in
          try file.device(proposing: configuration.surroundings.uuid())
        })
      else { return .failed(.unprepared(reason: Self.namelessDevice)) }
      body = try JSONEncoder().encode(DeviceClaimDocument(device: device))
    } catch {
      return .failed(.retry(reason: "the device has no name", retryAfterMilliseconds: nil))
    }
    let request = BackendRequest(
      method: "POST", path: "v1/claims", headers: ["Authorization": authorization], body: body)
    configuration.hook?("claim.sending")
    let result = await answer(to: request)
    configuration.hook?("claim.answered")
    if case .success(let response) = result, ReplyReading.isTaken(response) { return .taken }
    switch UploadClassification(result, lane: .account(account), now: configuration.now()) {
    case .failure(let failure): return .failed(failure)
    case .verdicts: return .failed(.retry(reason: "an answer of another kind", retryAfterMilliseconds: nil))
    }
  }

  // MARK: Orders

  func requestOrder(
    product: String, quantity: Int, account: String, key: String
  ) async throws(SyncError) -> OrderDocument {
    let authorization = try await authorization(of: account)
    guard !isShutDown else { throw .queue(.closed(path: configuration.path)) }
    let body: Data
    do {
      body = try JSONEncoder().encode(OrderRequest(productID: product, quantity: quantity))
    } catch {
      throw .encoding(what: "an order of \(product)")
    }
    let request = BackendRequest(
      method: "POST", path: "v1/orders",
      headers: ["Authorization": authorization, "Idempotency-Key": key], body: body)
    return try Self.document(await answer(to: request), account: account, as: OrderDocument.self)
  }

  func requestOpenOrders(account: String) async throws(SyncError) -> [OrderDocument] {
    let authorization = try await authorization(of: account)
    guard !isShutDown else { throw .queue(.closed(path: configuration.path)) }
    let request = BackendRequest(
      method: "GET", path: "v1/orders?state=open", headers: ["Authorization": authorization], body: Data())
    return try Self.document(await answer(to: request), account: account, as: OrderListDocument.self).orders
  }

  private static func document<Document: Decodable>(
    _ result: Result<BackendResponse, TransportError>, account: String, as: Document.Type
  ) throws(SyncError) -> Document {
    let response: BackendResponse
    switch result {
    case .failure(let error): throw .backendUnreachable(reason: error.reason)
    case .success(let answer): response = answer
    }
    guard response.status == 200 || response.status == 201 else {
      // A captive portal answers 403 as well: only our own problem is a refusal.
      let problem = ReplyReading.problem(in: response)
      if response.status == 401 || response.status == 403 && problem?.type == ProblemDocument.auth {
        throw .signInNeeded(account: account)
      }
      if response.status >= 500 || response.status < 400 || problem == nil {
        throw .backendUnreachable(reason: "HTTP \(response.status)")
      }
      throw .backendRefused(status: response.status, reason: "an order was not made")
    }
    do {
      return try JSONDecoder().decode(Document.self, from: response.body)
    } catch {
      throw .backendUnreachable(reason: "HTTP \(response.status) with a body that is not the backend's")
    }
  }

  // MARK: Common

  private func answer(to request: BackendRequest) async -> Result<BackendResponse, TransportError> {
    do throws(TransportError) {
      return .success(try await transport.send(request))
    } catch {
      return .failure(error)
    }
  }
}

extension ProofDocument {
  /// A signed transaction goes verbatim, everything else as base64.
  init(_ proof: Proof) {
    let kind = ProofKind(rawValue: proof.kind)
    let isText = kind == .signedTransaction
    self.init(
      kind: kind,
      data: isText ? String(decoding: proof.bytes, as: UTF8.self) : Data(proof.bytes).base64EncodedString())
  }
}
