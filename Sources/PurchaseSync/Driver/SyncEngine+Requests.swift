import Foundation
import PurchaseQueue

/// The two requests that the engine makes.
extension SyncEngine {
  func upload(_ lane: Lane, _ entries: [Entry]) {
    let upload: Upload
    let lease: LaneLease
    do throws(SyncError) {
      guard let free = try Self.storing({ () throws(QueueError) in try opened?.file.queue.lease(lane) })
      else {
        let reason = "another process is sending this lane"
        return uploadEnded(lane, .failure(.retry(reason: reason, retryAfterMilliseconds: nil)))
      }
      lease = free
      upload = try prepare(entries)
    } catch {
      events.send(.failed(error))
      uploadEnded(lane, .failure(.backendFault(reason: error.description)))
      return
    }
    configuration.hook?("upload.sending")
    run { engine in
      let result = await engine.send(upload, lane)
      // Until here: the next upload of this lane takes a lease of its own.
      lease.release()
      await engine.uploadEnded(lane, result)
    }
  }

  private func send(_ upload: Upload, _ lane: Lane) async -> UploadClassification {
    guard let authorization = await authorization(of: lane) else { return .failure(.signInNeeded) }
    guard let body = await body(of: upload) else { return .failure(.proofMissing) }
    let request = BackendRequest(
      method: "POST", path: "v1/receipts", headers: ["Authorization": authorization], body: body)
    return UploadClassification(await answer(to: request), lane: lane, now: configuration.now())
  }

  /// One upload: the claims of a head and its run, and their common proof, if its bytes are here.
  private struct Upload {
    var device: UUID
    var proof: Proof?
    var claims: [Claim]
  }

  func answer(to request: BackendRequest) async -> Result<BackendResponse, TransportError> {
    do throws(TransportError) {
      return .success(try await transport.send(request))
    } catch {
      return .failure(error)
    }
  }

  private func uploadEnded(_ lane: Lane, _ result: UploadClassification) {
    configuration.hook?("upload.received")
    feed { (machine, now) throws(QueueError) in
      switch result {
      case .verdicts(let reply): try machine.replyArrived(lane: lane, reply, now: now, using: &random)
      case .failure(let failure): try machine.uploadFailed(lane: lane, failure, now: now, using: &random)
      }
    }
  }

  private func prepare(_ entries: [Entry]) throws(SyncError) -> Upload {
    let file = try self.file()
    var claims: [Claim] = []
    for entry in entries {
      claims.append(
        try TransactionDetails(text: entry.details, key: entry.key).claim(orderNumber: entry.orderNumber))
    }
    let (proof, device) = try Self.storing { () throws(QueueError) in
      (try Self.firstProof(of: entries.first, in: file), try file.device(proposing: UUID()))
    }
    guard let device else { throw .backendUnreachable(reason: "the vault that names this device is locked") }
    return Upload(device: device, proof: proof, claims: claims)
  }

  private static func firstProof(of entry: Entry?, in file: SyncFile) throws(QueueError) -> Proof? {
    for reference in entry?.proofs ?? [] {
      if let proof = try file.queue.proof(reference) { return proof }
    }
    return nil
  }

  /// Nil if the proof is not in the queue, and the store does not hold the transaction just now.
  private func body(of upload: Upload) async -> Data? {
    var proof = upload.proof
    if proof == nil { proof = await proofFromStore(upload.claims[0].transactionID) }
    guard let proof else { return nil }
    do {
      return try JSONEncoder().encode(
        UploadRequest(device: upload.device, proof: ProofDocument(proof), claims: upload.claims))
    } catch {
      events.send(.failed(.encoding(what: "an upload of \(upload.claims.count) claims")))
      return nil
    }
  }

  private func proofFromStore(_ transactionID: String) async -> Proof? {
    do {
      return try await store.unfinished().transactions.first { $0.transactionID == transactionID }?.proof
    } catch {
      events.send(.failed(.store(reason: "the unfinished transactions could not be read")))
      return nil
    }
  }

  /// The lane's own name: never that of whoever is signed in now.
  private func authorization(of lane: Lane) async -> String? {
    switch lane {
    case .account(let account):
      return await credentials(account).map { "Bearer " + $0 }
    case .device:
      do {
        let file = try self.file()
        let device = try Self.storing { () throws(QueueError) in try file.device(proposing: UUID()) }
        return device.map { "Device " + $0.uuidString }
      } catch {
        events.send(.failed(error))
        return nil
      }
    }
  }

  func requestOrder(
    product: String, quantity: Int, account: String, key: String
  ) async throws(SyncError) -> OrderDocument {
    guard let token = await credentials(account) else { throw .signInNeeded(account: account) }
    let body: Data
    do {
      body = try JSONEncoder().encode(OrderRequest(productID: product, quantity: quantity))
    } catch {
      throw .encoding(what: "an order of \(product)")
    }
    let request = BackendRequest(
      method: "POST", path: "v1/orders",
      headers: ["Authorization": "Bearer " + token, "Idempotency-Key": key], body: body)
    switch await answer(to: request) {
    case .failure(let error): throw .backendUnreachable(reason: error.reason)
    case .success(let response): return try Self.order(in: response, account: account)
    }
  }

  private static func order(in response: BackendResponse, account: String) throws(SyncError) -> OrderDocument
  {
    guard response.status == 200 || response.status == 201 else {
      if response.status == 401 { throw .signInNeeded(account: account) }
      if response.status >= 500 { throw .backendUnreachable(reason: "HTTP \(response.status)") }
      throw .backendRefused(status: response.status, reason: "an order was not made")
    }
    do {
      return try JSONDecoder().decode(OrderDocument.self, from: response.body)
    } catch {
      throw .backendUnreachable(reason: "HTTP \(response.status) with a body that is not the backend's")
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
