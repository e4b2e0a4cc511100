import FaultInjection
import Foundation
import PurchaseSync
import PurchaseSyncTesting

/// The naive app of most tutorials: starts the upload, finishes without waiting for the answer, keeps nothing.
actor FireAndForgetClient: AppClient {
  private let parts: AppParts
  private let store: MockStoreClient
  private let backend: PlainBackend
  private var uploads: [Task<Void, Never>] = []

  init(_ parts: AppParts, _ store: MockStoreClient) {
    (self.parts, self.store, backend) = (parts, store, PlainBackend(parts.options))
  }

  /// The payment queue's observer: whatever the store still holds is delivered at launch.
  func launched() async throws {
    for transaction in try await store.unfinished().transactions {
      try await took(transaction, account: parts.phone.user)
    }
  }

  func order(product: String, account: String) async throws -> UUID? { nil }

  func took(_ transaction: StoreTransaction, account: String?) async throws {
    parts.failpoints.pass("enqueue.begin")
    let (backend, failpoints) = (backend, parts.failpoints)
    uploads.append(
      Task {
        // Nobody looks at the answer, as in the tutorials.
        _ = await backend.upload(PlainUpload(transaction, account: account), as: account)
        failpoints.pass("upload.received")
      })
    parts.failpoints.pass("finish.calling")
    await store.finishOrGoOn(transaction.transactionID)
    parts.passNoted()
  }

  func signedIn(_ account: String) async throws {}
  /// It knows no device.
  func claim(for account: String) async throws {}
  func settingsChanged() async throws {}

  func isDone() async throws -> Bool {
    for upload in uploads { await upload.value }
    return true
  }

  func close() async {}
}
