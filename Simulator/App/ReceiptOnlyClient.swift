import AppStoreReceipts
import FaultInjection
import Foundation
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting

/// An app that keeps nothing: the app receipt has it all, or so it is thought (R5.4). It is read and sent with each
/// purchase and at launch, and read again for each further try, until one is answered with 200; then what was in it is
/// finished, as Apple tells.
actor ReceiptOnlyClient: AppClient {
  private let parts: AppParts
  private let store: MockStoreClient
  private let backend: PlainBackend
  private var isSent = true
  /// What the store has handed over in this run.
  private var unfinished: Set<String> = []
  private var isClosed = false
  private var sender: Task<Void, Never>?

  init(_ parts: AppParts, _ store: MockStoreClient) {
    (self.parts, self.store, backend) = (parts, store, PlainBackend(parts.options))
  }

  func launched() async throws {
    for transaction in try await store.unfinished().transactions {
      try await took(transaction, account: parts.phone.user)
    }
    send()
  }

  func order(product: String, account: String) async throws -> UUID? {
    await backend.order(product: product, account: account)
  }

  func took(_ transaction: StoreTransaction, account: String?) async throws {
    parts.failpoints.pass("enqueue.begin")
    unfinished.insert(transaction.transactionID)
    parts.passNoted()
    send()
  }

  func signedIn(_ account: String) async throws { send() }
  /// It knows no device.
  func claim(for account: String) async throws {}
  func settingsChanged() async throws { send() }
  func isDone() async throws -> Bool { isSent && sender == nil }

  func close() async {
    isClosed = true
    sender?.cancel()
  }

  /// What was sent is done, whatever the answer says of it: 200 is 200.
  private func finish(_ upload: PlainUpload) async {
    for claim in upload.claims where unfinished.remove(claim.transactionID) != nil {
      parts.failpoints.pass("finish.calling")
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
        // What comes meanwhile is sent in another round.
        isSent = true
        guard let upload = try await upload() else { continue }
        let status = await backend.upload(upload, as: parts.phone.user)
        parts.failpoints.pass("upload.received")
        if status == 200 {
          await finish(upload)
          continue
        }
        isSent = false
        try await Task.sleep(for: .milliseconds(20))
      } catch {
        isSent = false
        break
      }
    }
    sender = nil
  }

  /// Nil where the receipt holds nothing.
  private func upload() async throws -> PlainUpload? {
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
    return PlainUpload(proof: Proof(kind: ProofKind.appReceipt.rawValue, bytes: bytes), claims: claims)
  }
}
