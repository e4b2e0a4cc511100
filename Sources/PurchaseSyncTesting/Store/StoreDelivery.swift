public import PurchaseSync

/// How the store delivers a transaction to the app: over which interfaces, and with which data missing.
public struct StoreDelivery: Sendable, Hashable, Codable {
  /// The proofs of the transaction. It is delivered once per proof, in this order; two kinds stand for both of
  /// StoreKit's interfaces.
  public var proofs: [ProofKind]
  /// Whether a later launch of the app gets the transaction without its account token, as the old interface does
  /// ("applicationUsername" may be nil then). A signed transaction keeps its token all the same.
  public var forgetsToken: Bool
  /// Whether the device cannot verify the signature of a signed transaction.
  public var isUnverified: Bool

  /// A delivery. The default is that of StoreKit 2 without faults.
  public init(
    proofs: [ProofKind] = [.signedTransaction], forgetsToken: Bool = false, isUnverified: Bool = false
  ) {
    self.proofs = proofs
    self.forgetsToken = forgetsToken
    self.isUnverified = isUnverified
  }

  /// The old interface after a restart: no token, and the app receipt is the only proof.
  public static let tokenForgotten = StoreDelivery(proofs: [.appReceipt], forgetsToken: true)
  /// A signed transaction whose signature the device cannot verify.
  public static let unverified = StoreDelivery(isUnverified: true)
  /// Both interfaces: signed, and again with the app receipt.
  public static let twice = StoreDelivery(proofs: [.signedTransaction, .appReceipt])
}
