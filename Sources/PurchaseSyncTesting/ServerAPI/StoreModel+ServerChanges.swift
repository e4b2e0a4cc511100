import AppStoreReceipts
import Foundation
import PurchaseQueue

/// What a backend changes over the App Store Server API: finish, account token, consumption.
extension StoreModel {
  /// *Finish Transaction*: as if the app had finished it. A second call and the app's own call change nothing.
  mutating func finish(atAPI id: String, at now: Timestamp? = nil) throws(ServerAPIError) {
    let record = try transaction(atAPI: id)
    do throws(StoreModelError) {
      try finish(transactionID: record.transactionID, by: .backend, at: now)
    } catch {
      throw .transactionNotFound
    }
  }

  /// *Set App Account Token*: sets or replaces the token of a purchase. "For auto-renewable subscriptions, the endpoint
  /// applies the `appAccountToken` to the current renewal transaction and subsequent renewals, but it doesn't affect past
  /// transactions."
  mutating func setAccountToken(_ token: UUID, ofOriginal id: String) throws(ServerAPIError) {
    guard Self.isTransactionID(id) else { throw .invalidOriginalTransactionID }
    guard let record = transaction(id) else { throw .originalTransactionNotFound }
    guard record.originalTransactionID == id else { throw .idIsNotOriginal }
    guard record.ownership == .purchased else { throw .familyNotSupported }
    let current = latest(of: id) ?? record
    guard let position = log.positions[current.transactionID] else { throw .originalTransactionNotFound }
    amend(position) { $0.accountToken = token }
  }

  /// *Send Consumption Information*: keeps the report of a purchase; a later one replaces it.
  mutating func takeConsumption(
    _ report: ConsumptionReport, of id: String
  ) throws(ServerAPIError) {
    let record = try transaction(atAPI: id)
    guard record.ownership == .purchased else { throw .familyNotSupported }
    // Version 2 takes every product, version 1 those that can be used up.
    guard report.version > 1 || record.kind == .consumable || record.kind == .autoRenewable else {
      throw .typeNotSupported
    }
    try report.check(of: record)
    consumptionReports[id] = report
  }
}
