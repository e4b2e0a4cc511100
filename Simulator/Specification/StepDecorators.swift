import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting

/// A transport that notes uploads: before a request goes out, and after its answer has come.
struct StepTransport: BackendTransport {
  let base: any BackendTransport
  let steps: DeviceSteps
  /// Whether the engine believes only signed answers.
  let verifies: Bool

  func send(_ request: BackendRequest) async throws(TransportError) -> BackendResponse {
    guard request.method == "POST", ["v1/receipts", "v1/adoptions"].contains(request.path) else {
      return try await base.send(request)
    }
    let name: String
    do {
      if request.path == "v1/adoptions" {
        try steps.adopts(request)
        return try await base.send(request)
      }
      name = try steps.sends(request)
    } catch let error as TransportError {
      throw error
    } catch {
      throw TransportError(.unsendable, reason: "\(error)")
    }
    var named = request
    named.headers[RequestMoment.nameField] = name
    let sent = named
    let answered = await withTaskCancellationHandler {
      await result(of: sent)
    } onCancel: {
      steps.ended(name, isHeard: false)
    }
    steps.ended(name, isHeard: isHeard(answered))
    return try answered.get()
  }

  private func result(of request: BackendRequest) async -> Result<BackendResponse, TransportError> {
    do throws(TransportError) { return .success(try await base.send(request)) } catch {
      return .failure(error)
    }
  }

  /// Whether it is an answer that the engine may believe.
  private func isHeard(_ result: Result<BackendResponse, TransportError>) -> Bool {
    guard case .success(let response) = result else { return false }
    let isSigned = response.signature != nil || !verifies
    return response.status == 200 && response.contentType == "application/json" && isSigned
  }
}

/// A store that notes what it hands over, and what the engine finishes.
struct StepStore: StoreClient {
  let base: any StoreClient
  let steps: DeviceSteps

  func unfinished() async throws -> StoreListing {
    let listing = try await base.unfinished()
    steps.arrives(listing.transactions)
    return listing
  }

  func receipt() async throws -> [UInt8]? { try noted(await base.receipt()) }

  func refreshReceipt() async throws -> [UInt8]? { try noted(await base.refreshReceipt()) }

  /// What cannot be read as a receipt hands nothing over.
  private func noted(_ bytes: [UInt8]?) -> [UInt8]? {
    guard let bytes else { return nil }
    do {
      steps.arrives(try StoreTransaction.all(in: AppReceipt(decoding: bytes), bytes: bytes))
    } catch {
      return bytes
    }
    return bytes
  }

  func finish(transactionIDs: [String]) async throws -> [String: FinishResult] {
    steps.note(.finishes(transactionIDs, phone: steps.phone))
    return try await base.finish(transactionIDs: transactionIDs)
  }
}

extension DeviceSteps {
  func told(_ outcome: Outcome) {
    note(.told(outcome.key.transactionID, phone: phone, verdict: outcome.verdict.rawValue))
  }

  func arrives(_ transactions: [StoreTransaction]) {
    if !transactions.isEmpty { note(.arrives(transactions.map(\.transactionID), phone: phone)) }
  }
}
