#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The payload of a signed transaction (JWS). **Decoded, not verified**: it proves nothing on the device.
///
/// Names of the wire: JWSTransactionDecodedPayload. Dates are milliseconds since 1970; Xcode writes them with a
/// fraction, which is cut off.
public struct SignedTransaction: Sendable, Hashable {
  /// `transactionId`
  public var transactionID: String
  /// `originalTransactionId`; the transaction's own id for a first purchase.
  public var originalTransactionID: String
  /// `bundleId`
  public var bundleID: String?
  /// `productId`
  public var productID: String
  /// `quantity`; 1 where it is absent.
  public var quantity: Int
  /// `purchaseDate`, milliseconds since 1970.
  public var purchaseDate: Int64
  /// `expiresDate`, milliseconds since 1970; of subscriptions.
  public var expiresDate: Int64?
  /// `revocationDate`, milliseconds since 1970; of refunded or revoked transactions.
  public var revocationDate: Int64?
  /// `appAccountToken`, as it came.
  public var appAccountToken: String?
  /// `environment`
  public var environment: StoreEnvironment

  /// Decodes the payload of a JWS.
  public init(jws: String) throws(ReceiptDecodingError) {
    let payload = try CompactJWS(jws).payload
    do {
      self.init(try JSONDecoder().decode(Wire.self, from: payload))
    } catch {
      throw ReceiptDecodingError(expected: "a transaction's JSON", location: "payload")
    }
  }

  private struct Wire: Decodable {
    var transactionId: String
    var originalTransactionId: String?
    var bundleId: String?
    var productId: String
    var quantity: Int?
    var purchaseDate: Double
    var expiresDate: Double?
    var revocationDate: Double?
    var appAccountToken: String?
    var environment: String?
  }

  private init(_ wire: Wire) {
    // Dates beyond Int64 would trap: a payload is data from outside.
    func milliseconds(_ value: Double) -> Int64 { Int64(exactly: value.rounded(.towardZero)) ?? 0 }
    transactionID = wire.transactionId
    originalTransactionID = wire.originalTransactionId ?? wire.transactionId
    bundleID = wire.bundleId
    productID = wire.productId
    quantity = wire.quantity ?? 1
    purchaseDate = milliseconds(wire.purchaseDate)
    expiresDate = wire.expiresDate.map(milliseconds)
    revocationDate = wire.revocationDate.map(milliseconds)
    appAccountToken = wire.appAccountToken
    environment = StoreEnvironment(rawValue: wire.environment ?? "Production")
  }
}
