import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync

/// A backend in this process that answers at once: orders, and `granted` for each claim.
final class QuickBackend: BackendTransport {
  /// Whether no request arrives.
  private let isAway: Bool
  private let steps: PurchaseSteps?
  private let orders = Locked(0)

  init(isAway: Bool = false, _ steps: PurchaseSteps? = nil) { (self.isAway, self.steps) = (isAway, steps) }

  func send(_ request: BackendRequest) async throws(TransportError) -> BackendResponse {
    if isAway { throw TransportError(reason: "the backend is away") }
    do {
      switch request.path {
      case "v1/orders":
        steps?.reach(.orderAsked)
        return try made(request)
      case "v1/receipts":
        steps?.reach(.uploadSent)
        return try granted(request)
      default: return BackendResponse(status: 204, body: Data())
      }
    } catch {
      throw TransportError(reason: "\(error)")
    }
  }

  private struct Wish: Decodable {
    var productID: String
    var quantity: Int
  }

  private func made(_ request: BackendRequest) throws -> BackendResponse {
    let wish = try JSONDecoder().decode(Wish.self, from: request.body)
    let number = orders.withLock { count in
      count += 1
      return count
    }
    // Another process may have made orders for the same file.
    let order = OrderDocument(
      number: "o-\(ProcessInfo.processInfo.processIdentifier)-\(number)", accountToken: UUID(),
      productID: wish.productID, quantity: wish.quantity, state: .open, createdAt: .wallClock())
    return try answer(order, status: 201)
  }

  private func granted(_ request: BackendRequest) throws -> BackendResponse {
    let claims = try JSONDecoder().decode(UploadRequest.self, from: request.body).claims
    let verdicts = claims.map { claim in
      var verdict = ClaimVerdict(
        environment: claim.environment, transactionID: claim.transactionID, verdict: .granted)
      (verdict.orderNumber, verdict.owner) = (claim.orderNumber, .yours)
      return verdict
    }
    return try answer(UploadReply(ledgerEpoch: "e", verdicts: verdicts), status: 200)
  }

  private func answer(_ document: some Encodable, status: Int) throws -> BackendResponse {
    BackendResponse(
      status: status, contentType: "application/json", body: try JSONEncoder().encode(document))
  }
}

/// A store that charges and finishes at once.
final class QuickStore: SellingStore {
  static let product = "gems.100"
  private static let proofBytes = 5_000

  let updates = AsyncStream<StoreTransaction> { $0.finish() }
  private let finishedCount = Locked(0)
  private let serial: Locked<Int64>
  private let steps: PurchaseSteps

  /// - Parameter serial: The number of the first transaction. Each process of a bench has others.
  init(serial: Int64, _ steps: PurchaseSteps) { (self.serial, self.steps) = (Locked(serial), steps) }

  var finished: Int { finishedCount.value }

  func unfinished() async throws -> StoreListing { StoreListing(account: "a", transactions: []) }

  func finish(transactionIDs: [String]) async throws -> [String: FinishResult] {
    steps.reach(.finished)
    finishedCount.withLock { $0 += transactionIDs.count }
    return Dictionary(uniqueKeysWithValues: transactionIDs.map { ($0, .finished) })
  }

  func purchase(_ order: PurchaseOrder) async throws -> PurchaseResult {
    steps.reach(.sheetShown)
    return .purchased(transaction(token: order.accountToken))
  }

  func transaction(token: UUID? = nil) -> StoreTransaction {
    let number = serial.withLock { serial in
      serial += 1
      return serial
    }
    let id = String(number)
    let proof = Array(id.utf8) + [UInt8](repeating: 0x41, count: Self.proofBytes - id.utf8.count)
    let now = Timestamp.wallClock()
    var transaction = StoreTransaction(
      environment: .production, transactionID: id, originalTransactionID: id, productID: Self.product,
      quantity: 1, purchasedAt: now, accountToken: token,
      proof: Payload(kind: "signedTransaction", bytes: proof))
    (transaction.productKind, transaction.reason) = (.consumable, .purchase)
    (transaction.signedAt, transaction.originalPurchasedAt) = (now, now)
    return transaction
  }
}
