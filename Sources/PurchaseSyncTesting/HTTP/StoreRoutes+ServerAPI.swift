import AppStoreReceipts
import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSync

/// As much of the App Store Server API as a backend needs to ask about a transaction (receipt-facts, c).
extension WorldState {
  /// *Get Transaction Info*: the transaction as it is now, signed.
  static func transactionInfo(
    _ world: inout WorldState, _ call: Route.Call
  ) throws(HTTPProblem) -> HTTPResponse {
    world.store.advance(to: call.now)
    return try JSONBody.response(
      TransactionInfo(signedTransactionInfo: try signed(call.parameter, world.store, call.now)))
  }

  /// *Get Transaction History*: each period of the subscription that a transaction belongs to, all on one page.
  static func transactionHistory(
    _ world: inout WorldState, _ call: Route.Call
  ) throws(HTTPProblem) -> HTTPResponse {
    world.store.advance(to: call.now)
    let store = world.store
    guard let record = store.transaction(call.parameter) else {
      throw .notFound(TransactionInfo.unknown)
    }
    var signed: [String] = []
    for other in store.transactions(storeAccount: record.storeAccount)
    where other.originalTransactionID == record.originalTransactionID {
      signed.append(try Self.signed(other.transactionID, store, call.now))
    }
    return try JSONBody.response(
      TransactionHistory(
        bundleId: store.forge.bundleID, environment: store.environment.rawValue, hasMore: false,
        signedTransactions: signed))
  }

  private static func signed(
    _ id: String, _ store: StoreModel, _ now: Timestamp
  ) throws(HTTPProblem) -> String {
    do throws(StoreModelError) {
      return try store.signedTransaction(for: id, now: now)
    } catch {
      throw .notFound(TransactionInfo.unknown)
    }
  }
}

struct TransactionInfo: Codable {
  /// What the store says of an id that it does not know.
  static let unknown = "TransactionIdNotFoundError"

  var signedTransactionInfo: String
}

struct TransactionHistory: Codable {
  var bundleId: String
  var environment: String
  var hasMore: Bool
  var signedTransactions: [String]
}
