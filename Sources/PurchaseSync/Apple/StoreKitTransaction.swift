import AppStoreReceipts
package import Foundation
import PurchaseQueue

/// The values of a StoreKit 2 transaction, without StoreKit: everything that is decided about them is decided here,
/// where it runs on every platform.
package struct StoreKitTransaction: Sendable {
  /// The signed transaction, as `VerificationResult` hands it out.
  package var jws: String
  /// False for `VerificationResult.unverified`.
  package var isVerified: Bool
  package var id: UInt64
  package var originalID: UInt64
  package var productID: String
  package var quantity: Int
  package var purchaseDate: Date
  package var accountToken: UUID?
  package var environment: String

  package init(
    jws: String, isVerified: Bool, id: UInt64, originalID: UInt64, productID: String, quantity: Int,
    purchaseDate: Date, accountToken: UUID?, environment: String
  ) {
    self.jws = jws
    self.isVerified = isVerified
    self.id = id
    self.originalID = originalID
    self.productID = productID
    self.quantity = quantity
    self.purchaseDate = purchaseDate
    self.accountToken = accountToken
    self.environment = environment
  }
}

extension StoreTransaction {
  /// Never fails: a transaction that could not be told would stay unfinished in the store, in silence.
  ///
  /// The payload is read first, because its dates are exact: where ids restart, the date is part of the key, and the
  /// same transaction may come as a bare JWS too. If it cannot be read, or is about another transaction than the one
  /// that StoreKit finishes by this id, StoreKit's own values stand in, and the JWS goes up as it is.
  package init(_ told: StoreKitTransaction) {
    if let decoded = Self.decoded(told) {
      self = decoded
      return
    }
    self.init(
      environment: StoreEnvironment(rawValue: told.environment), transactionID: String(told.id),
      originalTransactionID: String(told.originalID), productID: told.productID, quantity: told.quantity,
      purchasedAt: Timestamp(milliseconds: told.purchaseDate.millisecondsSince1970),
      accountToken: told.accountToken,
      proof: Proof(kind: ProofKind.signedTransaction.rawValue, bytes: Array(told.jws.utf8)),
      isVerified: told.isVerified)
  }

  private static func decoded(_ told: StoreKitTransaction) -> StoreTransaction? {
    do throws(ReceiptDecodingError) {
      let decoded = try StoreTransaction(jws: told.jws, isVerified: told.isVerified)
      return decoded.transactionID == String(told.id) ? decoded : nil
    } catch {
      return nil  // What is wrong with it is the backend's to say: it gets the JWS.
    }
  }
}

extension Date {
  /// Rounded: a `Date` holds seconds as a Double, which is a little off for most milliseconds. 0 for one beyond 64 bits.
  fileprivate var millisecondsSince1970: Int64 {
    Int64(exactly: (timeIntervalSince1970 * 1_000).rounded()) ?? 0
  }
}

extension [StoreTransaction] {
  /// StoreKit promises no order: by when the store charged, then by id, as numbers.
  package var oldestFirst: [StoreTransaction] {
    sorted { first, second in
      (first.purchasedAt.milliseconds, first.transactionID.count, first.transactionID)
        < (second.purchasedAt.milliseconds, second.transactionID.count, second.transactionID)
    }
  }
}
