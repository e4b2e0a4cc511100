import Foundation
import PurchaseQueue
import PurchaseSync

/// A bug of the protocol, planted around the engine of a real process: the specification has to refuse its runs.
enum AppBug: String, CaseIterable {
  /// What the store lists is finished at once.
  case finishesListed
  /// An upload is answered as granted, and is not sent.
  case answersItself
  /// Uploads carry the credential of another account.
  case sendsAsAnother
  /// Each upload goes out twice at the same time.
  case sendsTwice
}

struct PlantedStore: StoreClient {
  let base: any StoreClient
  let bug: AppBug?

  func unfinished() async throws -> StoreListing {
    let listing = try await base.unfinished()
    if bug == .finishesListed, !listing.transactions.isEmpty {
      _ = try await base.finish(transactionIDs: listing.transactions.map(\.transactionID))
    }
    return listing
  }

  func receipt() async throws -> [UInt8]? { try await base.receipt() }
  func refreshReceipt() async throws -> [UInt8]? { try await base.refreshReceipt() }
  func finish(transactionIDs: [String]) async throws -> [String: FinishResult] {
    try await base.finish(transactionIDs: transactionIDs)
  }
}

struct PlantedTransport: BackendTransport {
  let base: any BackendTransport
  let bug: AppBug?

  func send(_ request: BackendRequest) async throws(TransportError) -> BackendResponse {
    guard let bug, request.path == "v1/receipts" else { return try await base.send(request) }
    switch bug {
    case .finishesListed: return try await base.send(request)
    case .answersItself: return try Self.granted(request)
    case .sendsAsAnother:
      var other = request
      other.headers["Authorization"] = "Bearer token-mallory"
      return try await base.send(other)
    case .sendsTwice:
      async let twin = sent(request)
      let answer = await sent(request)
      _ = await twin
      return try answer.get()
    }
  }

  private func sent(_ request: BackendRequest) async -> Result<BackendResponse, TransportError> {
    do throws(TransportError) { return .success(try await base.send(request)) } catch {
      return .failure(error)
    }
  }

  private static func granted(_ request: BackendRequest) throws(TransportError) -> BackendResponse {
    do {
      let upload = try JSONDecoder().decode(UploadRequest.self, from: request.body)
      let reply = UploadReply(
        ledgerEpoch: "planted",
        verdicts: upload.claims.map {
          ClaimVerdict(environment: $0.environment, transactionID: $0.transactionID, verdict: .granted)
        })
      return BackendResponse(
        status: 200, contentType: "application/json", body: try JSONEncoder().encode(reply))
    } catch {
      throw TransportError(.unsendable, reason: "\(error)")
    }
  }
}
