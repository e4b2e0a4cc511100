import Foundation
package import PurchaseQueue

/// The way of an upload: encoded, sent once, and its answer classified. What the engine does and the bench measures.
package struct BackendClient: Sendable {
  private let transport: any BackendTransport

  package init(transport: any BackendTransport) { self.transport = transport }

  /// Uploads in the name of a lane.
  ///
  /// - Parameters:
  ///   - upload: The claims and what proves them.
  ///   - authorization: The whole value of the header: `Bearer …`, or `Device …` for the device lane.
  ///   - lane: In whose name.
  ///   - now: The clock, asked when the answer is there.
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
