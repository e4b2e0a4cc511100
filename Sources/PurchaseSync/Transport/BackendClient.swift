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
  ///   - lane: The lane of the claims.
  ///   - now: The clock, read when the answer has arrived.
  package func upload(
    _ upload: UploadRequest, authorization: String, lane: Lane, now: @Sendable () -> Timestamp
  ) async -> UploadClassification {
    let request = BackendRequest(
      method: "POST", path: "v1/receipts", headers: ["Authorization": authorization],
      body: upload.json())
    let result: Result<BackendResponse, TransportError>
    do throws(TransportError) {
      result = .success(try await transport.send(request))
    } catch {
      result = .failure(error)
    }
    return UploadClassification(result, lane: lane, now: now())
  }
}
