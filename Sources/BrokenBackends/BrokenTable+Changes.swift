extension BrokenTable {
  /// Which checks the bugs of refunds, notifications and subscriptions fail.
  static let changes = [
    row(
      "refunds-unread", "refund-uploaded",
      """
      refund-before-upload refund-notified-first refund-of-one refund-not-again refund-part
      refund-part-first refund-part-grows refund-part-told refund-part-private refund-part-of-period
      subscription-refunded period-refunded-alone upgrade-cancelled seat-taken-back restart-notified
      refund-dated refund-full-share refund-of-shared refund-part-below refund-small-share-of-period
      revoke-share adoption-refunded id-refunded refund-full-replaced grace-refunded parallel-older
      receipt-refund-silent receipt-refunded receipt-refunded-part
      """),
    row(
      "refunds-granted", "refund-before-upload",
      """
      refund-notified-first refund-part-first refund-part-grows restart-notified refund-part-below
      id-refunded adoption-refunded parallel-older receipt-refunded receipt-refunded-part
      """),
    row(
      "refund-takes-all", "refund-of-one",
      """
      refund-before-upload+ refund-notified-first refund-part refund-part-first refund-part-grows
      refund-part-told refund-part-of-period subscription-refunded+ period-refunded-alone upgrade-cancelled
      restart-notified+ seat-taken-back refund-part-below refund-full-replaced grace-refunded+
      parallel-older receipt-refund-silent receipt-refunded-part
      """),
    row("refund-for-ever", "refund-reversed", "refund-part-grows"),
    row(
      "refund-each-time", "refund-notified-again",
      "refund-of-one refund-part-grows parallel-refunds grace-refunded+"),
    row(
      "refund-part-as-whole", "refund-part",
      """
      refund-part-first refund-part-grows refund-part-told upgrade-refunded refund-part-below
      receipt-refund-silent receipt-refunded-part
      """),
    row("refund-part-adds", "refund-part-grows", ""),
    row("refund-part-once", "refund-part-grows", ""),
    row("refund-part-told-whole", "refund-part-told", ""),
    row("refund-part-public", "refund-part-private", ""),
    row(
      "refund-part-kept", "refund-part",
      """
      refund-part-first refund-part-grows refund-part-told refund-part-private refund-part-of-period
      refund-part-below refund-small-share-of-period receipt-refund-silent receipt-refunded-part
      """),
    row(
      "notifications-ignored", "refund-notified",
      """
      refund-notified-again subscription-renewal-notified subscription-renewal-once period-grace
      seats-refund-notified notification-revoke notification-version-1-asks notification-silent
      restart-refund chain-first-late period-extended refund-after-reversal refund-of-shared grace-end
      grace-older grace-refunded notification-version-1-several restart-grace restart-part
      """),
    row(
      "refund-notes-ignored", "refund-notified",
      """
      refund-notified-again seats-refund-notified notification-version-1-asks notification-silent
      restart-refund refund-after-reversal refund-of-shared notification-version-1-several restart-part
      """),
    row(
      "renewal-notes-ignored", "subscription-renewal-notified", "subscription-renewal-once chain-first-late"),
    row(
      "notes-unverified", "notification-unsigned",
      """
      notification-unsigned-inside notification-other-root notification-pasted-root notification-leaf-oid
      notification-intermediate-oid notification-expired notification-short-chain notification-algorithm
      notification-changed notification-revoked
      """),
    row("version-1-believed", "notification-version-1", ""),
    row("renewal-each-time", "subscription-renewal-once", "parallel-renewal"),
    row(
      "notes-grant", "notification-grants-none",
      """
      chain-first-late period-grace period-grace-over notification-reversal notification-older
      refund-older-proof notification-declined notification-undated grace-end grace-older grace-withdrawn
      grace-refunded restart-grace
      """),
    row(
      "notes-need-credentials", "notification-open",
      """
      chain-first-late refund-notified refund-notified-again refund-notified-first
      subscription-renewal-notified subscription-renewal-once period-grace period-grace-over
      seats-refund-notified seats-unclaimed notification-reversal notification-older notification-revoke
      notification-version-1-asks notification-test notification-new-type notification-declined
      notification-not-renewed consent-rescinded restart-refund restart-notified parallel-notified
      parallel-period-notified parallel-renewal parallel-refunds notification-other-root
      notification-pasted-root notification-leaf-oid notification-intermediate-oid notification-expired
      notification-short-chain notification-algorithm notification-changed notification-revoked
      notification-other-app period-extended plan-downgraded refund-after-reversal refund-of-shared
      notification-silent grace-end grace-of-last grace-older grace-withdrawn grace-refunded
      notification-version-1-several parallel-older restart-grace restart-part
      """),
    row(
      "bad-note-500", "notification-malformed",
      """
      notification-unsigned notification-unsigned-inside notification-other-root notification-pasted-root
      notification-leaf-oid notification-intermediate-oid notification-expired notification-short-chain
      notification-algorithm notification-changed notification-revoked notification-other-app
      notification-version-1-odd
      """),
    row("reversal-notes-ignored", "notification-reversal", ""),
    row("revoke-notes-ignored", "notification-revoke", ""),
    row("notes-by-arrival", "notification-older", ""),
    row("refund-by-arrival", "refund-older-proof", ""),
    row(
      "version-1-ignored", "notification-version-1-asks", "notification-silent notification-version-1-several"
    ),
    row("silent-200", "notification-silent", ""),
    row("test-refused", "notification-test", ""),
    row("new-types-refused", "notification-new-type", ""),
    row("declined-as-refund", "notification-declined", ""),
    row(
      "refund-by-type", "notification-undated",
      """
      refund-part-grows notification-reversal notification-older notification-version-1-asks
      notification-silent notification-version-1-several restart-part
      """),
    row("not-renewed-ends", "notification-not-renewed", ""),
    row(
      "noted-is-granted", "notification-unclaimed",
      """
      receipt-two-accounts claim-transaction parallel-notified id-alone proof-chain-revoked
      receipt-record-silent
      """),
    row("consent-takes-back", "consent-rescinded", ""),
    row("consent-unread", "consent-rescinded", ""),
    row(
      "expiry-ignored", "subscription-lapsed",
      """
      chain-bought-again period-over-lately period-grace-over status-21006 id-lapsed grace-end
      grace-of-last grace-older grace-withdrawn
      """),
    row(
      "per-chain", "subscription-renewed",
      """
      id-of-chain chain-token chain-first-late chain-on-device chain-of-device chain-adopted
      subscription-renewal-owner subscription-upgraded period-refunded-alone upgrade-cancelled seats-added
      chain-nearest seat-renewal seat-with-original
      """),
    row(
      "renewal-to-sender", "subscription-renewal-owner",
      """
      id-of-chain chain-on-device chain-adopted subscription-renewal-once subscription-upgraded
      period-refunded-alone parallel-renewal chain-after chain-nearest chain-renamed claim-of-renewal
      period-order restored-once seat-renewal parallel-periods
      """),
    row("upgrades-ignored", "subscription-upgraded", "upgrade-cancelled"),
    row(
      "ends-untold", "subscription-granted",
      """
      id-of-chain chain-on-device chain-adopted subscription-renewed subscription-renewal-owner
      subscription-renewal-notified entitlement-end chain-first-late period-extended period-order
      grace-end period-over-soon
      """),
    row("refund-ends-chain", "period-refunded-alone", "upgrade-cancelled refund-full-replaced"),
    row("ends-an-hour-late", "period-over-lately", ""),
    row("ends-an-hour-early", "period-over-soon", ""),
    row(
      "ends-by-signed-date", "subscription-lapsed",
      """
      chain-bought-again period-over-lately period-grace-over id-lapsed grace-end grace-of-last
      grace-older grace-withdrawn
      """),
    row("lapsed-tells-order", "period-lapsed-owner", ""),
    row("grace-ignored", "period-grace", "grace-end grace-older grace-refunded restart-grace"),
    row("grace-for-ever", "period-grace-over", "grace-end grace-of-last grace-older grace-withdrawn"),
    row("cancelled-upgrade-kept", "upgrade-cancelled", ""),
    row("upgrade-as-refund", "upgrade-refunded", ""),
    row("grace-of-16-days", "grace-end", ""),
    row("grace-longest", "grace-withdrawn", ""),
    row("grace-by-arrival", "grace-older", ""),
    row("grace-of-all", "grace-of-last", ""),
    row(
      "bundle-as-member", "bundle-order",
      """
      bundle-bound-stays bundle-fulfilled bundle-guess bundle-guess-named bundle-one-order
      """),
    row(
      "bundle-once", "bundle-members",
      """
      bundle-bound-stays bundle-fulfilled bundle-guess bundle-guess-named bundle-named
      """),
    row(
      "bundle-token-only", "bundle-without-token",
      """
      bundle-fulfilled bundle-guess bundle-guess-named bundle-named bundle-payer parallel-members
      """),
    row("bundle-refunds", "bundle-replaces", ""),
    row("unknown-product-rejected", "bundle-elsewhere", ""),
    row("seats-differ", "seats-added", ""),
    row("seats-refund-ends", "seats-refunded", ""),
    row("seats-refund-kept", "seats-refunded", ""),
    row("seat-as-purchase", "seat-with-token", "claim-of-seat seat-with-original"),
    row("seat-counts-all", "seat-of-member", "seat-with-token seat-with-original"),
    row("seat-kept", "seat-taken-back", ""),
    row("seats-note-ends", "seats-refund-notified", ""),
    row("unclaimed-refused", "seats-unclaimed", ""),
  ]
}
