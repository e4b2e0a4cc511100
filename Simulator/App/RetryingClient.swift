import FaultInjection
import Foundation
import PurchaseSync
import PurchaseSyncTesting

/// Where an app that retries keeps what is unsent, and as whom it sends.
protocol UnsentList: Sendable {
  /// What an earlier run left behind.
  var found: [PlainUpload] { get }
  /// What is to be kept of a transaction.
  func upload(of transaction: StoreTransaction, account: String?) async throws -> PlainUpload
  /// Keeps the list as it is now.
  func keep(_ list: [PlainUpload]) throws
  /// The account in whose name it is sent.
  func account(for upload: PlainUpload) -> String?
}

/// An app that notes a purchase in a list, finishes it, and sends the head of the list again and again until it is
/// answered with 200. Three of the clients are this one with another list.
actor RetryingClient: AppClient {
  /// Half a minute, at the pace of the stories.
  private static let pause = Duration.milliseconds(20)

  private let parts: AppParts
  private let store: MockStoreClient
  private let backend: PlainBackend
  private let list: any UnsentList
  private var unsent: [PlainUpload]
  private var isClosed = false
  private var sender: Task<Void, Never>?

  init(_ parts: AppParts, _ store: MockStoreClient, _ list: any UnsentList) {
    (self.parts, self.store, self.list) = (parts, store, list)
    backend = PlainBackend(parts.options)
    unsent = list.found
  }

  func launched() async throws {
    wake()
    for transaction in try await store.unfinished().transactions {
      try await took(transaction, account: parts.phone.user)
    }
  }

  func order(product: String, account: String) async throws -> UUID? {
    await backend.order(product: product, account: account)
  }

  func took(_ transaction: StoreTransaction, account: String?) async throws {
    parts.failpoints.pass("enqueue.begin")
    let upload = try await list.upload(of: transaction, account: account)
    if !unsent.contains(where: { $0.transactionID == upload.transactionID }) { unsent.append(upload) }
    keep()
    parts.passNoted()
    parts.failpoints.pass("finish.calling")
    await store.finishOrGoOn(transaction.transactionID)
    wake()
  }

  func signedIn(_ account: String) async throws { wake() }
  /// It knows no device.
  func claim(for account: String) async throws {}
  func settingsChanged() async throws { wake() }
  func isDone() async throws -> Bool { unsent.isEmpty }

  func close() async {
    isClosed = true
    sender?.cancel()
  }

  /// What cannot be kept stays in memory, and nobody is told: so it is in most apps.
  private func keep() {
    do {
      try list.keep(unsent)
      parts.trace.passed("kept")
    } catch {
      Terminal.error("app: the list could not be kept: \(error)")
    }
  }

  private func wake() {
    guard sender == nil else { return }
    sender = Task { await send() }
  }

  private func send() async {
    while let head = unsent.first, !isClosed {
      let status = await backend.upload(head, as: list.account(for: head))
      parts.failpoints.pass("upload.received")
      if status == 200 {
        unsent.removeAll { $0.transactionID == head.transactionID }
        keep()
      } else {
        do {
          try await Task.sleep(for: Self.pause)
        } catch {
          break
        }
      }
    }
    sender = nil
  }
}
