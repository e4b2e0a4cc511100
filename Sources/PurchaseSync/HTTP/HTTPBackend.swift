import Foundation
package import PurchaseQueue

/// A backend that speaks the project's protocol, over a transport of the app: the article *Protocol*.
package struct HTTPBackend: BackendPort {
  private let transport: any BackendTransport
  private let now: @Sendable () -> Timestamp
  private let refused: RefusedReplies?

  /// - Parameters:
  ///   - transport: Sends each request as it is.
  ///   - now: The clock, read when an answer has arrived.
  package init(_ transport: any BackendTransport, now: @escaping @Sendable () -> Timestamp) {
    (self.transport, self.now, refused) = (transport, now, nil)
  }

  /// With the time limit and the verifier of a configuration.
  init(_ transport: any BackendTransport, _ configuration: SyncConfiguration, _ lateCalls: LateCalls) {
    now = configuration.now
    var bounded = BoundedTransport(
      transport: transport, milliseconds: configuration.requestTimeLimit.wholeMilliseconds,
      patience: configuration.system.patience)
    bounded.limit.watch = LateCallWatch(
      calls: lateCalls, callback: .transport, subject: "send", now: configuration.now)
    guard let verifier = configuration.verifier else {
      (self.transport, refused) = (bounded, nil)
      return
    }
    let name = configuration.system.uuid
    let verifying = VerifyingTransport(
      transport: bounded, verifier: verifier, nonce: { name().uuidString })
    (self.transport, refused) = (verifying, verifying.refused)
  }

  package func takeRefusedReplies() -> [String] { refused?.take() ?? [] }

  /// Uploads claims of one lane.
  package func upload(
    _ upload: UploadRequest, in lane: Lane, from sender: BackendSender
  ) async -> UploadClassification {
    let result = await answer(
      BackendRequest(method: "POST", path: "v1/receipts", headers: sender.headers, body: upload.json()))
    return UploadClassification(result, lane: lane, now: now())
  }

  /// The device asks, since its secret proves its name; the account's credential comes next to the device's.
  package func adopt(_ device: DeviceIdentity, by account: AccountCredential) async -> AdoptionEnd {
    let body: Data
    do {
      body = try JSONEncoder().encode(AdoptionDocument(device: device.id))
    } catch {
      return .failed(.retry(reason: "the device has no name", retryAfterMilliseconds: nil))
    }
    let sender = BackendSender.device(device, signedIn: account)
    let result = await answer(
      BackendRequest(method: "POST", path: "v1/adoptions", headers: sender.headers, body: body))
    if case .success(let response) = result, ReplyReading.isTaken(response, device.id) { return .taken }
    switch UploadClassification(result, lane: .account(account.account), now: now()) {
    case .failure(let failure): return .failed(failure)
    case .verdicts: return .failed(.retry(reason: "an answer of another kind", retryAfterMilliseconds: nil))
    }
  }

  func answer(_ request: BackendRequest) async -> Result<BackendResponse, TransportError> {
    do throws(TransportError) {
      return .success(try await transport.send(request))
    } catch {
      return .failure(error)
    }
  }
}

extension BackendSender {
  /// The fields with the credentials: whose request it is, and who else is named.
  fileprivate var headers: [String: String] {
    switch self {
    case .account(let account, let device):
      ["Authorization": account.authorization, BackendRequest.deviceHeader: device.authorization]
    case .device(let device, let account?):
      ["Authorization": device.authorization, BackendRequest.signedInHeader: account.authorization]
    case .device(let device, nil): ["Authorization": device.authorization]
    }
  }
}

extension AccountCredential {
  /// The value of `Authorization`.
  var authorization: String { "Bearer " + token }
}
