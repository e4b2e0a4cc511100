import AppStoreReceipts
import FaultInjection
import Foundation
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting

/// The naive app of most tutorials: starts the upload, finishes without waiting for the answer, keeps nothing.
struct FireAndForgetClient {
  let options: AppOptions
  let failpoints: Failpoints

  func live() async throws -> Int32 {
    let store = MockStoreClient(base: options.server, storeAccount: options.storeAccount)
    // The payment queue's observer: whatever the store still holds is delivered at launch.
    for transaction in try await store.unfinished().transactions { try await handle(transaction, store) }
    if let product = options.product {
      let transaction = try await store.pay(product: product, quantity: 1, accountToken: nil)
      failpoints.pass("payment.after")
      try await handle(transaction, store)
    }
    return ExitCode.ok
  }

  private func handle(_ transaction: StoreTransaction, _ store: MockStoreClient) async throws {
    let upload = Task { await send(transaction) }
    _ = try await store.finish(transactionID: transaction.transactionID)
    failpoints.pass("upload.sending")
    let status = await upload.value
    failpoints.pass("upload.received")
    Terminal.line(#"{"event":"uploaded","status":\#(status)}"#)
  }

  /// The HTTP status, or 0 where there was no answer: nobody looks at it, as in the tutorials.
  private func send(_ transaction: StoreTransaction) async -> Int {
    let claim = Claim(
      transactionID: transaction.transactionID, originalTransactionID: transaction.originalTransactionID,
      environment: transaction.environment.rawValue, productID: transaction.productID,
      quantity: transaction.quantity, purchasedAt: transaction.purchasedAt, match: .none)
    let proof = ProofDocument(
      kind: .signedTransaction, data: String(decoding: transaction.proof.bytes, as: UTF8.self))
    do {
      let body = try JSONEncoder().encode(UploadRequest(device: UUID(), proof: proof, claims: [claim]))
      let request = BackendRequest(
        method: "POST", path: "v1/receipts", headers: ["Authorization": "Bearer token-" + options.account],
        body: body)
      return try await URLSessionTransport(base: options.server, timeout: 5).send(request).status
    } catch {
      return 0
    }
  }
}
