import Foundation
import ProcessFaults
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting

/// An app with a purchase library that lets the store keep what is unsent. It posts a transaction as the account that is
/// signed in at that moment. Any answer that is no 5xx is the end: the transaction is finished. A 429 is posted again
/// soon; everything else waits for the next foreground. To be fair to it, the person of a scenario opens the app again
/// and again.
actor RevenueCatRuleClient: AppClient {
  private let parts: AppParts
  private let store: MockStoreClient
  private let backend: StatusOnlyBackend
  /// What this launch has seen and not finished.
  private var unfinished: [StoreTransaction] = []
  private var isClosed = false
  private var sender: Task<Void, Never>?

  init(_ parts: AppParts, _ store: MockStoreClient) {
    (self.parts, self.store, backend) = (parts, store, StatusOnlyBackend(parts))
  }

  func launched() async throws {
    for transaction in try await store.unfinished().transactions {
      try await took(transaction, account: parts.phone.user)
    }
  }

  func order(product: String, account: String, quantity: Int) async throws -> UUID? {
    await backend.order(product: product, account: account, quantity: quantity)
  }

  func took(_ transaction: StoreTransaction, account: String?) async throws {
    parts.checkpoints.pass(.enqueueBegin)
    if !unfinished.contains(where: { $0.key == transaction.key }) { unfinished.append(transaction) }
    parts.passNoted()
    wake()
  }

  func signedIn(_ account: String) async throws { wake() }

  func settingsChanged() async throws {
    try await launched()
    wake()
  }

  func workLeft() async throws -> Int { unfinished.count }

  func close() async {
    isClosed = true
    sender?.cancel()
  }

  private func wake() {
    guard sender == nil else { return }
    sender = Task { await send() }
  }

  private func send() async {
    while !unfinished.isEmpty, !isClosed {
      for transaction in unfinished where !isClosed { await post(transaction) }
      guard !unfinished.isEmpty else { break }
      do {
        try await parts.phone.pause()
      } catch {
        break
      }
    }
    sender = nil
  }

  private func post(_ transaction: StoreTransaction) async {
    let user = parts.phone.user
    let status = await backend.upload(ClientUpload(transaction, account: user), as: user)
    parts.checkpoints.pass(.uploadReceived)
    guard status != 0, status != 429, !(500...599).contains(status) else { return }
    parts.checkpoints.pass(.finishCalling)
    await store.finishOrGoOn(transaction.transactionID)
    unfinished.removeAll { $0.key == transaction.key }
  }
}
