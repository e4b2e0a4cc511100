import AppStoreReceipts
package import Foundation
import PurchaseQueue

/// The values of a StoreKit 2 transaction, without StoreKit. Every decision about them is in this file, where
/// it runs on every platform.
package struct StoreKitTransaction: Sendable {
  /// The signed transaction, as `VerificationResult` returns it.
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

extension StoreKitTransaction {
  /// The stable name of the Apple Account in this app, as Apple signs it into each transaction. `AppTransaction.shared`
  /// has it too, and may show a sign-in dialog. Nil if the device does not trust the signature: with a wrong name, a
  /// finish would wait for an account that does not exist.
  package var storeAccount: String? {
    guard isVerified else { return nil }
    do throws(ReceiptDecodingError) {
      return try SignedTransaction(jws: jws).appTransactionID
    } catch {
      return nil
    }
  }
}

extension StoreTransaction {
  /// Never fails: a transaction that cannot be represented would stay unfinished in the store, unnoticed.
  ///
  /// The payload is decoded first, because its dates are exact. If ids restart, the date is part of the key,
  /// and the same transaction may also arrive as a bare JWS. If the payload cannot be decoded, or names
  /// another transaction than the one that StoreKit finishes by this id, StoreKit's own values are used and
  /// the JWS is uploaded unchanged.
  package init(_ values: StoreKitTransaction) {
    if let decoded = Self.decoded(values) {
      self = decoded
      return
    }
    self.init(
      environment: StoreEnvironment(rawValue: values.environment), transactionID: String(values.id),
      originalTransactionID: String(values.originalID), productID: values.productID,
      quantity: values.quantity,
      purchasedAt: Timestamp(milliseconds: values.purchaseDate.millisecondsSince1970),
      accountToken: values.accountToken,
      proof: Payload(kind: ProofKind.signedTransaction.rawValue, bytes: Array(values.jws.utf8)),
      isVerified: values.isVerified)
  }

  private static func decoded(_ values: StoreKitTransaction) -> StoreTransaction? {
    do throws(ReceiptDecodingError) {
      let decoded = try StoreTransaction(jws: values.jws, isVerified: values.isVerified)
      return decoded.transactionID == String(values.id) ? decoded : nil
    } catch {
      return nil  // The backend gets the JWS and decides.
    }
  }
}

extension Date {
  /// Rounded, because a `Date` holds seconds as a Double, which is slightly off for most milliseconds. 0 if
  /// it does not fit 64 bits.
  fileprivate var millisecondsSince1970: Int64 {
    Int64(exactly: (timeIntervalSince1970 * 1_000).rounded()) ?? 0
  }
}

extension [StoreTransaction] {
  /// Sorts by the time of the charge, then by id as a number, because StoreKit promises no order.
  package var oldestFirst: [StoreTransaction] {
    sorted { first, second in
      (first.purchasedAt.milliseconds, first.transactionID.count, first.transactionID)
        < (second.purchasedAt.milliseconds, second.transactionID.count, second.transactionID)
    }
  }
}
