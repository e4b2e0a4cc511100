import AppStoreDocuments
import AppStoreReceipts
package import PurchaseQueue

/// Server notifications (R2.7, R3.10). The model creates them; the mock server posts them.
extension StoreModel {
  /// The largest number of transactions in a notification of version 1 (StoreFacts d.1).
  static let toldTransactions = 100

  /// Takes the due notifications, after it did everything else that was due.
  package mutating func takeNotifications(now: Timestamp) -> [OutgoingNotification] {
    advance(to: now)
    return notifications.take(now: now)
  }

  /// Records the backend's answer to a notification; nil for none. Only in production another attempt follows.
  package mutating func settleNotification(id: Int, status: Int?, now: Timestamp) {
    notifications.settle(id: id, status: status, retries: environment == .production, now: now)
  }

  mutating func note(_ change: StoreChange, _ transactionID: String, now: Timestamp) {
    guard !notifications.versions.isEmpty, let record = transaction(transactionID) else { return }
    for version in OutgoingNotification.Version.allCases where notifications.versions.contains(version) {
      let id = notificationID
      let made =
        version == .one
        ? version1(change, about: record, now: now) : version2(change, about: record, id: id, now: now)
      guard let made else { continue }
      notifications.add(
        OutgoingNotification(
          id: 0, notificationID: id, version: version, kind: made.kind, subtype: made.subtype,
          transactionID: transactionID, body: made.body.text, createdAt: now, dueAt: now))
    }
  }

  private struct Made {
    var kind: String
    var subtype: String?
    var body: JSONValue
  }

  private mutating func version1(
    _ change: StoreChange, about record: StoreTransactionRecord, now: Timestamp
  ) -> Made? {
    guard let kind = change.version1(isSubscription: record.kind == .autoRenewable),
      environment != .sandbox || StoreChange.sandboxKinds.contains(kind)
    else { return nil }
    let told = Array(told(of: record.storeAccount).suffix(Self.toldTransactions))
    let unified = VerifyReceiptForge(bundleID: forge.bundleID, environment: environment).unified(
      held: [], latest: told, renewals: pendingRenewals(of: told),
      newReceipt: newReceipt(of: told, now: now), alwaysTellsLatest: true, requestedAt: now)
    let body = notificationForge.version1(
      kind, unifiedReceipt: unified, renewal: renewal(of: record.originalTransactionID),
      password: sharedSecret?.value ?? "0123456789abcdef0123456789abcdef")
    var members = body.object ?? [:]
    var dates: [(String, JSONValue)] = []
    if kind == .didChangeRenewalStatus {
      dates = StoreDateText.members("auto_renew_status_change_date", now, isNumeric: false)
    }
    if kind == .cancel {
      dates = StoreDateText.members("cancellation_date", record.revokedAt ?? now, isNumeric: false)
      members["web_order_line_item_id"] = record.webOrderLineItemID.map(JSONValue.string)
    }
    for (name, value) in dates { members[name] = value }
    return Made(kind: kind.rawValue, subtype: nil, body: .object(members))
  }

  private func version2(
    _ change: StoreChange, about record: StoreTransactionRecord, id: String, now: Timestamp
  ) -> Made? {
    let words = change.version2
    if case .seatsUnclaimed(let claims) = change {
      let body = notificationForge.unclaimedSeats(claims, id: id, signedAt: now)
      return Made(kind: words.kind.rawValue, subtype: nil, body: body)
    }
    let body = notificationForge.version2(
      words.kind, words.subtype, id: id, about: record,
      renewal: renewal(of: record.originalTransactionID),
      state: toldState(of: record), signedAt: now)
    return Made(kind: words.kind.rawValue, subtype: words.subtype?.rawValue, body: body)
  }

  /// The `status` in a notification; nil for what is no subscription. A share that was taken back has its own.
  func toldState(of record: StoreTransactionRecord) -> SubscriptionState? {
    let isRevokedShare = record.ownership != .purchased && record.revokedAt != nil
    return isRevokedShare && record.kind == .autoRenewable
      ? .revoked : subscription(of: record.transactionID)?.state
  }

  var notificationForge: NotificationForge {
    NotificationForge(receipts: signer, environment: environment)
  }

  /// A UUID that follows from the forge's key and the number of notifications so far.
  var notificationID: String { uuid(of: "notification \(notifications.madeCount)") }

  /// A UUID that follows from the forge's key and a name.
  func uuid(of name: String) -> String {
    let bytes = KeyedChecksum.bytes(of: name, key: forge.key)
    let digits = Array("0123456789abcdef")
    var text = ""
    for (index, byte) in bytes.prefix(16).enumerated() {
      if [4, 6, 8, 10].contains(index) { text.append("-") }
      // Version 4 of RFC 9562, variant 10.
      let octet = index == 6 ? byte & 0x0F | 0x40 : index == 8 ? byte & 0x3F | 0x80 : byte
      text.append(digits[Int(octet >> 4)])
      text.append(digits[Int(octet & 0x0F)])
    }
    return text
  }
}
