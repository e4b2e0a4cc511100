import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSync

/// One transaction's way: payment, notifications, uploads with their verdicts, grants, refund, finish. It holds no proofs.
struct TransactionTimeline: Encodable {
  struct Entry: Encodable {
    /// When; nil if it was not recorded.
    var at: Timestamp?
    /// "store", "backend" or "app".
    var who: String
    var what: String
  }

  var transactionID: String
  var originalTransactionID: String
  var storeAccount: String
  var productID: String
  /// In the order of time; entries without a time last.
  var entries: [Entry]

  init(_ record: StoreTransactionRecord, _ store: StoreModel, _ backend: BackendModel) {
    transactionID = record.transactionID
    originalTransactionID = record.originalTransactionID
    storeAccount = record.storeAccount
    productID = record.productID
    let all =
      Self.payment(record) + Self.notifications(of: record.transactionID, store.notifications)
      + Self.verdicts(of: record.transactionID, backend) + Self.grants(of: record, backend)
    let timed = all.enumerated().filter { $0.element.at != nil }
      .sorted {
        ($0.element.at?.milliseconds ?? 0, $0.offset) < ($1.element.at?.milliseconds ?? 0, $1.offset)
      }
    entries = timed.map(\.element) + all.filter { $0.at == nil }
  }

  private static func payment(_ record: StoreTransactionRecord) -> [Entry] {
    let token = record.accountToken == nil ? " without an account token" : ""
    var entries = [
      Entry(
        at: record.purchasedAt, who: "store",
        what: "\(record.storeAccount) paid \(record.quantity) of \(record.productID)" + token)
    ]
    if let revokedAt = record.revokedAt {
      entries.append(Entry(at: revokedAt, who: "store", what: Self.revocation(of: record)))
    }
    guard record.isFinished else {
      return entries + [Entry(at: nil, who: "app", what: "has not finished the transaction yet")]
    }
    let who = record.finisher ?? .app
    let how = who == .backend ? " at the store" : ""
    entries.append(
      Entry(at: record.finishedAt, who: who.rawValue, what: "finished the transaction" + how))
    return entries
  }

  private static func revocation(of record: StoreTransactionRecord) -> String {
    guard let share = record.refundedShare else { return "refunded or revoked" }
    let units = "\(share.units(of: record.quantity)) of \(record.quantity)"
    return "refunded: \(share.milliPercent) thousandths of a percent of the price, \(units)"
  }

  private static func notifications(of id: String, _ queue: NotificationQueue) -> [Entry] {
    func entry(_ notification: OutgoingNotification, _ state: String) -> Entry {
      let type = notification.kind + (notification.subtype.map { " " + $0 } ?? "")
      return Entry(at: notification.createdAt, who: "store", what: "notification \(type): \(state)")
    }
    let ended = queue.fates.filter { $0.notification.transactionID == id }.map {
      entry(
        $0.notification,
        "\($0.isDelivered ? "delivered" : "given up"), answer \($0.status.map(String.init) ?? "none")")
    }
    let waiting = queue.waiting.filter { $0.transactionID == id }.map {
      entry($0, $0.failures == 0 ? "waits" : "\($0.failures) attempts failed, waits")
    }
    return ended + waiting
  }

  private static func verdicts(of id: String, _ backend: BackendModel) -> [Entry] {
    backend.verdicts.filter { $0.transactionID == id }.map { verdict in
      let isTold = verdict.reason == BackendModel.toldByStore
      let cause =
        isTold
        ? "the store's notification, for \(name(verdict.uploader))" : "upload by \(name(verdict.uploader))"
      var parts = ["\(cause): verdict \(verdict.verdict.rawValue)"]
      if let owner = verdict.owner { parts.append("owner \(owner.rawValue)") }
      if let order = verdict.orderNumber { parts.append("order \(order)") }
      if let reason = verdict.reason, !isTold { parts.append("reason \(reason)") }
      return Entry(at: verdict.at, who: "backend", what: parts.joined(separator: ", "))
    }
  }

  private static func grants(of record: StoreTransactionRecord, _ backend: BackendModel) -> [Entry] {
    backend.credits(for: TransactionKey(record)).map { credit in
      Entry(
        at: credit.at, who: "backend",
        what: "granted \(credit.quantity) of \(credit.productID) to \(name(backend.owner(of: credit)))")
    }
  }

  private static func name(_ uploader: Uploader) -> String {
    switch uploader {
    case .account(let account): account
    case .device(let device): "the device \(device.uuidString.prefix(8))"
    }
  }
}
