import AppStoreDocuments

/// An event in the store that a backend is notified of, with its notification types (StoreFacts d).
enum StoreChange: Sendable, Hashable {
  /// A subscription was bought, for the first time or after its end.
  case subscribed(again: Bool)
  /// A product that does not renew was bought.
  case bought
  /// The store renewed.
  case renewed
  /// The store renewed after a failure.
  case recovered
  case chargeFailed(hasGrace: Bool)
  case graceEnded
  case expired(ExpirationIntent)
  case renewalTurned(on: Bool)
  case planChanged(PlanEffect)
  /// A subscriber redeemed an offer, for the present plan or for another one.
  case offerRedeemed(PlanEffect)
  /// The customer is asked for consent, informed, or has consented.
  case priceRaised(isPending: Bool)
  case priceDeclined
  case refunded
  case refundReversed
  /// Seats were added: at once.
  case seatsAdded
  /// There will be fewer seats, or more of them again, from the next renewal on.
  case seatsReduced
  /// Some seats were refunded, and the purchase stays.
  case seatsRefunded
  /// The store took back seats that the app had claimed; of these claims.
  case seatsUnclaimed([String])
  case refundRequested
  case refundDeclined
  /// Family sharing ended.
  case revoked
  /// A backend postponed the renewal.
  case renewalExtended

  /// The type in version 1; nil if version 1 has none, as for the end of a subscription.
  ///
  /// An upgrade is INTERACTIVE_RENEWAL; CANCEL is for refunds, since the replaced period has no date of cancellation
  /// (StoreFacts a.5).
  func version1(isSubscription: Bool) -> ServerNotificationV1.Kind? {
    switch self {
    case .subscribed(let again): again ? .interactiveRenewal : .initialBuy
    case .renewed: .didRenew
    case .recovered: .didRecover
    case .chargeFailed: .didFailToRenew
    case .renewalTurned, .priceDeclined: .didChangeRenewalStatus
    case .planChanged(let effect): effect == .atOnce ? .interactiveRenewal : .didChangeRenewalPreference
    case .priceRaised(let isPending): isPending ? .priceIncreaseConsent : nil
    case .refunded: isSubscription ? .cancel : .refund
    case .refundRequested: .consumptionRequest
    case .revoked: .revoke
    case .bought, .graceEnded, .expired, .offerRedeemed, .refundReversed, .refundDeclined, .renewalExtended,
      .seatsAdded, .seatsReduced, .seatsRefunded, .seatsUnclaimed:
      nil
    }
  }

  /// "Sandbox sends only" these (StoreFacts d.1).
  static let sandboxKinds: Set<ServerNotificationV1.Kind> = [
    .initialBuy, .didChangeRenewalPreference, .didChangeRenewalStatus, .didRenew, .interactiveRenewal,
    .cancel,
    .refund,
  ]

  /// The type and subtype in version 2.
  var version2: (kind: ServerNotificationV2.Kind, subtype: ServerNotificationV2.Subtype?) {
    switch self {
    case .subscribed(let again): (.subscribed, again ? .resubscribe : .initialBuy)
    case .bought: (.oneTimeCharge, nil)
    case .renewed: (.didRenew, nil)
    case .recovered: (.didRenew, .billingRecovery)
    case .chargeFailed(let hasGrace): (.didFailToRenew, hasGrace ? .gracePeriod : nil)
    case .graceEnded: (.gracePeriodExpired, nil)
    case .expired(let intent): (.expired, Self.subtype(of: intent))
    case .renewalTurned(let isOn): (.didChangeRenewalStatus, isOn ? .autoRenewEnabled : .autoRenewDisabled)
    case .planChanged(let effect): (.didChangeRenewalPreference, Self.subtype(of: effect))
    case .offerRedeemed(let effect): (.offerRedeemed, Self.subtype(of: effect))
    case .priceRaised(let isPending): (.priceIncrease, isPending ? .pending : .accepted)
    case .priceDeclined: (.didChangeRenewalStatus, nil)
    case .refunded: (.refund, nil)
    case .refundReversed: (.refundReversed, nil)
    // No source read says which kind has these two.
    case .seatsAdded: (.didChangeRenewalPreference, .increaseQuantity)
    case .seatsReduced: (.didChangeRenewalPreference, .decreaseQuantity)
    case .seatsRefunded: (.refund, .seats)
    case .seatsUnclaimed: (.unclaimSeats, nil)
    case .refundRequested: (.consumptionRequest, nil)
    case .refundDeclined: (.refundDeclined, nil)
    case .revoked: (.revoke, nil)
    case .renewalExtended: (.renewalExtended, nil)
    }
  }

  private static func subtype(of intent: ExpirationIntent) -> ServerNotificationV2.Subtype? {
    switch intent {
    case .cancelled: .voluntary
    case .billingError: .billingRetry
    case .priceIncreaseDeclined: .priceIncrease
    case .productUnavailable: .productNotForSale
    default: nil
    }
  }

  private static func subtype(of effect: PlanEffect) -> ServerNotificationV2.Subtype? {
    switch effect {
    case .atOnce: .upgrade
    case .atRenewal: .downgrade
    case .reverted, .unchanged: nil
    }
  }
}
