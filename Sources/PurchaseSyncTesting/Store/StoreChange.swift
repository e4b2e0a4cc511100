import AppStoreReceipts

/// What happened in the store that a backend hears of.
enum StoreChange: Sendable, Hashable {
  /// A subscription was bought, for the first time or after its end.
  case subscribed(again: Bool)
  /// Something that does not renew was bought.
  case bought
  case renewed
  case recovered
  case chargeFailed(hasGrace: Bool)
  case graceEnded
  case expired(ExpirationIntent)
  case renewalTurned(on: Bool)
  case planChanged(PlanEffect)
  case offerRedeemed
  /// Asked for consent, or only told, or consented.
  case priceRaised(isPending: Bool)
  case priceDeclined
  case refunded
  case refundReversed
  case refundRequested
  /// Shared no longer.
  case revoked
}
