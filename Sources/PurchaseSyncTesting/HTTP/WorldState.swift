import AppStoreReceipts
import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSync

/// Everything that the world's lock guards: the store, the backend, and what is planned to go wrong.
struct WorldState {
  var store: StoreModel
  let backend: BackendStore
  var faults: FaultPlan
  var credentials: Credentials
  var requestCount = 0
  var handledCount = 0

  init(store: StoreModel, backend: BackendStore, faults: FaultPlan, credentials: Credentials) {
    self.store = store
    self.backend = backend
    self.faults = faults
    self.credentials = credentials
  }

  mutating func admit(_ request: HTTPRequest) -> (ordinal: Int, fault: Fault?) {
    requestCount += 1
    return (requestCount, faults.next(method: request.method, path: request.path))
  }

  mutating func handle(_ request: HTTPRequest, now: Timestamp) -> (ordinal: Int, response: HTTPResponse) {
    handledCount += 1
    return (handledCount, answer(request, now: now))
  }

  /// The path under which a fault plan finds the backend's calls to the store. Not served.
  static let verificationPath = "/store/verify"

  /// The backend's call to the store. Any fault that the plan has for it means that the store does not answer.
  mutating func verify(_ query: VerificationQuery, now: Timestamp) -> StoreVerification {
    if faults.next(method: "POST", path: Self.verificationPath) != nil { return .unavailable }
    switch query {
    case .proof(let proof):
      guard proof.kind == .signedTransaction else { return .malformed }
      let claimed: SignedTransaction
      do throws(ReceiptDecodingError) {
        claimed = try SignedTransaction(jws: proof.data)
      } catch {
        return .malformed
      }
      guard store.forge.verify(proof.data) else { return .forged }
      return current(claimed.transactionID, environment: claimed.environment.rawValue, now: now)
    case .transaction(let environment, let id):
      return current(id, environment: environment, now: now)
    }
  }

  /// What the store knows now: a proof may be older than a refund.
  private func current(_ id: String, environment: String, now: Timestamp) -> StoreVerification {
    guard let record = store.transaction(id), record.environment.rawValue == environment else {
      return .notFound
    }
    do throws(ReceiptDecodingError) {
      return .genuine([try SignedTransaction(jws: store.forge.signedTransaction(record, signedAt: now))])
    } catch {
      return .malformed
    }
  }
}
