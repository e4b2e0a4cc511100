import CommandLineTools
import Foundation
import ProcessFaults
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting

/// Where an app that retries keeps unsent purchases, and under which account it sends them.
protocol UnsentList: Sendable {
  /// Left by an earlier launch.
  var found: [ClientUpload] { get }
  /// The part of a transaction that is kept.
  func upload(of transaction: StoreTransaction, account: String?) async throws -> ClientUpload
  /// Keeps the list as it is now.
  func keep(_ list: [ClientUpload]) throws
  /// The account under which it is sent.
  func account(for upload: ClientUpload) -> String?
  /// Whether it is dropped, after so many attempts since that moment.
  func drops(attempts: Int, since: Timestamp, now: Timestamp) -> Bool
}

extension UnsentList {
  func drops(attempts: Int, since: Timestamp, now: Timestamp) -> Bool { false }

  func upload(of transaction: StoreTransaction, account: String?) async throws -> ClientUpload {
    ClientUpload(transaction, account: account)
  }

  func account(for upload: ClientUpload) -> String? { upload.account }
}

/// An app that puts a purchase in a list, finishes it, and sends the head of the list again and again until the answer is
/// 200. Three of the clients are this one with different lists.
actor RetryingClient: AppClient {
  private let parts: AppParts
  private let store: MockStoreClient
  private let backend: StatusOnlyBackend
  private let list: any UnsentList
  private var unsent: [ClientUpload]
  private var isClosed = false
  private var sender: Task<Void, Never>?

  init(_ parts: AppParts, _ store: MockStoreClient, _ list: any UnsentList) {
    (self.parts, self.store, self.list) = (parts, store, list)
    backend = StatusOnlyBackend(parts)
    unsent = list.found
  }

  func launched() async throws {
    wake()
    for transaction in try await store.unfinished().transactions {
      try await took(transaction, account: parts.phone.user)
    }
  }

  func order(product: String, account: String, quantity: Int) async throws -> UUID? {
    await backend.order(product: product, account: account, quantity: quantity)
  }

  func took(_ transaction: StoreTransaction, account: String?) async throws {
    parts.checkpoints.pass(.enqueueBegin)
    let upload = try await list.upload(of: transaction, account: account)
    if !unsent.contains(where: { $0.transactionID == upload.transactionID }) { unsent.append(upload) }
    keep()
    parts.passNoted()
    parts.checkpoints.pass(.finishCalling)
    await store.finishOrGoOn(transaction.transactionID)
    wake()
  }

  func signedIn(_ account: String) async throws { wake() }
  func settingsChanged() async throws { wake() }
  func workLeft() async throws -> Int { unsent.count }

  func close() async {
    isClosed = true
    sender?.cancel()
  }

  /// If the list cannot be written, the purchase stays in memory and no error is shown, as in most apps.
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

  /// Counts the attempt, and drops the purchase if the list says so.
  private func failed(_ head: ClientUpload) {
    guard let index = unsent.firstIndex(where: { $0.transactionID == head.transactionID }) else { return }
    let now = parts.phone.now()
    let (attempts, since) = ((unsent[index].attempts ?? 0) + 1, unsent[index].since ?? now)
    (unsent[index].attempts, unsent[index].since) = (attempts, since)
    if list.drops(attempts: attempts, since: since, now: now) { unsent.remove(at: index) }
    keep()
  }

  private func send() async {
    while let head = unsent.first, !isClosed {
      let status = await backend.upload(head, as: list.account(for: head))
      parts.checkpoints.pass(.uploadReceived)
      if status == 200 {
        unsent.removeAll { $0.transactionID == head.transactionID }
        keep()
      } else {
        failed(head)
        do {
          try await parts.phone.pause()
        } catch {
          break
        }
      }
    }
    sender = nil
  }
}
