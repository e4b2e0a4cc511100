import Foundation
package import PurchaseQueue

/// One upload: encodes the request, sends it once and classifies the answer. The engine uses it; the bench
/// measures it.
package struct BackendClient: Sendable {
  private let transport: any BackendTransport

  package init(transport: any BackendTransport) { self.transport = transport }

  /// Uploads claims of one lane.
  ///
  /// - Parameters:
  ///   - upload: The claims and their proof.
  ///   - authorization: The whole value of the header: `Bearer …`, or `Device …` for the device lane.
  ///   - signedIn: The authorization of the account that is signed in on the device; only with the device lane.
  ///   - device: The device's credential, with an account's lane: it binds the device's name to its secret.
  ///   - signedInAccount: The name of the account of `signedIn`.
  ///   - lane: The lane of the claims.
  ///   - now: The clock, read when the answer has arrived.
  package func upload(
    _ upload: UploadRequest, authorization: String, signedIn: String? = nil, device: String? = nil,
    signedInAccount: String? = nil, lane: Lane,
    now: @Sendable () -> Timestamp
  ) async -> UploadClassification {
    var headers = ["Authorization": authorization]
    headers[BackendRequest.signedInHeader] = signedIn
    headers[BackendRequest.deviceHeader] = device
    let request = BackendRequest(
      method: "POST", path: "v1/receipts", headers: headers, body: upload.json(),
      account: lane.account, signedIn: signedInAccount)
    let result: Result<BackendResponse, TransportError>
    do throws(TransportError) {
      result = .success(try await transport.send(request))
    } catch {
      result = .failure(error)
    }
    return UploadClassification(result, lane: lane, now: now())
  }
}

extension BackendRequest {
  /// The header with the credential of the account that is signed in on a device, next to the device's own in
  /// `Authorization`.
  package static var signedInHeader: String { "Account-Authorization" }
  /// The header with the device's credential, next to an account's in `Authorization`. The name of the device is in the
  /// body of each upload: without its secret, anyone who reads the name could bind it to a secret first.
  package static var deviceHeader: String { "Device-Authorization" }
}
