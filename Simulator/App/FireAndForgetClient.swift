import Foundation
import ProcessFaults
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting

/// The app of most tutorials: starts the upload, finishes without waiting for the answer, and keeps nothing.
actor FireAndForgetClient: AppClient {
  private let parts: AppParts
  private let store: MockStoreClient
  private let backend: StatusOnlyBackend
  private var uploads: [Task<Void, Never>] = []

  init(_ parts: AppParts, _ store: MockStoreClient) {
    (self.parts, self.store, backend) = (parts, store, StatusOnlyBackend(parts))
  }

  /// The observer of the payment queue: the store delivers at launch all transactions that are not finished.
  func launched() async throws {
    for transaction in try await store.unfinished().transactions {
      try await took(transaction, account: parts.phone.user)
    }
  }

  func order(product: String, account: String, quantity: Int) async throws -> UUID? { nil }

  func took(_ transaction: StoreTransaction, account: String?) async throws {
    parts.checkpoints.pass(.enqueueBegin)
    let (backend, checkpoints) = (backend, parts.checkpoints)
    uploads.append(
      Task {
        // The answer is ignored, as in the tutorials.
        _ = await backend.upload(ClientUpload(transaction, account: account), as: account)
        checkpoints.pass(.uploadReceived)
      })
    parts.checkpoints.pass(.finishCalling)
    await store.finishOrGoOn(transaction.transactionID)
    parts.passNoted()
  }

  func signedIn(_ account: String) async throws {}
  func settingsChanged() async throws {}

  func workLeft() async throws -> Int {
    for upload in uploads { await upload.value }
    return 0
  }

  func close() async {}
}
