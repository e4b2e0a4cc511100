import AppStoreReceipts
import Foundation
import ProcessFaults
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting

/// An app that keeps nothing, since it takes the app receipt to be complete (R5.4). It reads and sends the receipt with
/// each purchase and at launch, and reads it again for each further attempt, until the answer is 200. Then it finishes
/// the transactions of the receipt, as Apple advises.
actor ReceiptOnlyClient: AppClient {
  private let parts: AppParts
  private let store: MockStoreClient
  private let backend: StatusOnlyBackend
  private var isSent = true
  /// The transactions that the store has handed over in this launch.
  private var unfinished: Set<String> = []
  private var isClosed = false
  private var sender: Task<Void, Never>?

  init(_ parts: AppParts, _ store: MockStoreClient) {
    (self.parts, self.store, backend) = (parts, store, StatusOnlyBackend(parts))
  }

  func launched() async throws {
    for transaction in try await store.unfinished().transactions {
      try await took(transaction, account: parts.phone.user)
    }
    send()
  }

  func order(product: String, account: String, quantity: Int) async throws -> UUID? {
    await backend.order(product: product, account: account, quantity: quantity)
  }

  func took(_ transaction: StoreTransaction, account: String?) async throws {
    parts.checkpoints.pass(.enqueueBegin)
    unfinished.insert(transaction.transactionID)
    parts.passNoted()
    send()
  }

  func signedIn(_ account: String) async throws { send() }
  func settingsChanged() async throws { send() }
  func workLeft() async throws -> Int { isSent && sender == nil ? 0 : 1 }

  func close() async {
    isClosed = true
    sender?.cancel()
  }

  /// Finishes everything that was sent: this app reads the status 200 and not the verdicts.
  private func finish(_ upload: ClientUpload) async {
    for claim in upload.claims where unfinished.remove(claim.transactionID) != nil {
      parts.checkpoints.pass(.finishCalling)
      await store.finishOrGoOn(claim.transactionID)
    }
  }

  private func send() {
    isSent = false
    guard sender == nil else { return }
    sender = Task { await run() }
  }

  private func run() async {
    while !isSent, !isClosed {
      do {
        // Purchases that arrive in the meantime are sent in another round.
        isSent = true
        guard let upload = try await upload() else { continue }
        let status = await backend.upload(upload, as: parts.phone.user)
        parts.checkpoints.pass(.uploadReceived)
        if status == 200 {
          await finish(upload)
          continue
        }
        isSent = false
        try await parts.phone.pause()
      } catch {
        isSent = false
        break
      }
    }
    sender = nil
  }

  /// Nil where the receipt holds nothing.
  private func upload() async throws -> ClientUpload? {
    guard let bytes = try await store.receipt() else { return nil }
    let receipt = try AppReceipt(decoding: bytes)
    let environment = receipt.environment ?? .production
    let claims = receipt.inApp.prefix(100).map { purchase in
      Claim(
        transactionID: purchase.transactionID, originalTransactionID: purchase.originalTransactionID,
        environment: environment.rawValue, productID: purchase.productID, quantity: purchase.quantity,
        purchasedAt: Timestamp(milliseconds: purchase.purchaseDate ?? 0), match: .none)
    }
    guard !claims.isEmpty else { return nil }
    return ClientUpload(proof: Payload(kind: ProofKind.appReceipt.rawValue, bytes: bytes), claims: claims)
  }
}
