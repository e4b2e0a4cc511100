import Foundation
import PurchaseQueue

/// The two requests that the engine makes.
extension SyncEngine {
  func upload(_ lane: Lane, _ entries: [Entry]) {
    let body: Data
    do throws(SyncError) {
      body = try uploadBody(entries)
    } catch {
      events.send(.failed(error))
      uploadEnded(lane, .failure(.backendFault(reason: error.description)))
      return
    }
    configuration.hook?("upload.sending")
    run { engine in
      guard let authorization = await engine.authorization(of: lane) else {
        await engine.uploadEnded(lane, .failure(.signInNeeded))
        return
      }
      let request = BackendRequest(
        method: "POST", path: "v1/receipts", headers: ["Authorization": authorization], body: body)
      await engine.uploadEnded(lane, UploadClassification(await engine.answer(to: request)))
    }
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

  private func uploadBody(_ entries: [Entry]) throws(SyncError) -> Data {
    let file = try self.file()
    var claims: [Claim] = []
    for entry in entries {
      claims.append(
        try TransactionDetails(text: entry.details, key: entry.key).claim(orderNumber: entry.orderNumber))
    }
    let (proof, device) = try Self.storing { () throws(QueueError) in
      (
        try entries.first?.proofs.first.map { (p) throws(QueueError) in try file.queue.proof(p) },
        try file.device(proposing: UUID())
      )
    }
    guard let device else { throw .backendUnreachable(reason: "the vault that names this device is locked") }
    do {
      return try JSONEncoder().encode(
        UploadRequest(device: device, proof: proof.map(ProofDocument.init), claims: claims))
    } catch {
      throw .encoding(what: "an upload of \(entries.count) claims")
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
