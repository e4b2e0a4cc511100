import AppStoreDocuments
import AppStoreReceipts
package import PurchaseQueue

extension StoreModel {
  /// A parent no longer consents to the use of the app: the store notifies the backend, and the system starts the app no
  /// more. Nothing is refunded, and subscriptions go on. Returns the notification, for a caller that posts it to its backend.
  @discardableResult
  package mutating func rescindConsent(storeAccount: String, now: Timestamp) throws(StoreModelError) -> String
  {
    guard !storeAccount.isEmpty else { throw .noStoreAccount }
    advance(to: now)
    let id = notificationID
    let app = notificationForge.signedAppTransaction(
      id: appTransactionID(of: storeAccount),
      downloadedAt: transactions(storeAccount: storeAccount).first?.purchasedAt, createdAt: now)
    let body = notificationForge.consentRescinded(id: id, signedAppTransaction: app, signedAt: now)
    if notifications.versions.contains(.two) {
      notifications.add(
        OutgoingNotification(
          id: 0, notificationID: id, version: .two, kind: ServerNotificationV2.Kind.rescindConsent.rawValue,
          subtype: nil, transactionID: "", body: body.text, createdAt: now, dueAt: now))
    }
    return body["signedPayload"]?.string ?? ""
  }
}
