import BackendConformance

/// Which checks fail with which planted bug: the first is about the bug, the others see it too.
enum BrokenTable {
  struct Row: Sendable {
    var bug: String
    /// The check that is about the bug.
    var finder: String
    /// Further checks that fail.
    var others: [String]
    /// Whether it breaks uploads or orders as such, so that every check that pays may fail.
    var isBroad = false

    /// The checks that may fail apart from the finder.
    var allowed: [String] {
      others
        + (isBroad
          ? ConformanceCheck.all.filter { $0.needs.contains(.store) }.map(\.name) + [
            "large", "restart-numbers",
          ] : [])
    }
  }

  static let rows: [Row] = [
    row("key-ignored", "order-idempotent", "order-key-reused parallel-orders restart-key"),
    row("key-shared", "order-key-per-account", ""),
    row("key-conflict", "order-key-reused", ""),
    row("key-not-needed", "order-key-needed", ""),
    row("order-waiting", "order-made", "order-read token-wins restart-order order-not-ended"),
    row("order-one-unit", "order-read", ""),
    row("one-token", "order-unique", "* order-key-per-account seats-added"),
    row("device-orders-rejected", "order-registered-paid", ""),
    row("any-product", "order-product", ""),
    row("strict-members", "order-unknown-members", "upload-unknown-members"),
    row("limit-ignored", "order-pages", ""),
    row("orders-unlisted", "order-listed", ""),
    row("unknown-order-500", "order-unknown", ""),
    row("cancel-forgotten", "order-ended", ""),
    row("cancelled-unpayable", "order-paid-late", ""),
    row("cancels-delivered", "order-stays-delivered", ""),
    row("registers-changes", "order-registered", ""),
    row("strangers-read", "order-private", ""),
    row("strangers-list", "order-not-listed", ""),
    row("strangers-cancel", "order-not-ended", ""),
    row("strangers-register", "order-not-registered", ""),
    row(
      "strangers-entitled", "entitlements-private",
      """
      receipt-two-accounts other-owner token-wins parallel-accounts parallel-adoptions
      seat-of-member seat-with-token
      """),
    row("no-credentials", "auth-missing", ""),
    row("any-token", "auth-wrong", ""),
    row(
      "double-grant", "upload-again",
      """
      upload-other-proof upload-claim-twice upload-receipt-only verdict-per-claim claim-environment bundle-members
      claim-partial owner-on-device device-again refund-reversed subscription-renewal-once
      restart-grant parallel-uploads parallel-accounts refund-part-grows
      seats-refunded
      """),
    row("bare-200", "upload-granted", "*"),
    row("forgets", "upload-granted", "*"),
    row(
      "per-proof", "upload-other-proof",
      """
      upload-receipt-only refund-reversed subscription-renewal-once restart-grant refund-part-grows
      seats-refunded
      """),
    row(
      "duplicate-as-granted", "upload-again",
      """
      upload-other-proof verdict-per-claim claim-partial device-again subscription-renewal-once
      restart-grant parallel-uploads parallel-accounts
      """),
    row("verdict-missing", "verdict-per-claim", "proof-per-claim upload-hundred claim-partial"),
    row("verdicts-swapped", "claim-partial", "upload-hundred"),
    row("environment-verified", "claim-environment", ""),
    row("no-epoch", "ledger-epoch", ""),
    row("new-epoch", "ledger-epoch", "restart-epoch"),
    row(
      "one-unit", "upload-quantity",
      "seats-refund-notified seats-refunded seat-of-member seat-with-token seats-added"),
    row(
      "undelivered", "upload-granted",
      "order-stays-delivered token-alone refund-part-first seats-added bundle-order"),
    row("fifty-claims", "upload-hundred", ""),
    row("claims-needed", "upload-receipt-only", ""),
    row("claim-product", "claim-product", ""),
    row("claim-quantity", "claim-quantity", ""),
    row("claim-environment", "claim-environment", ""),
    row("claim-transaction", "claim-transaction", "claim-other-proof claim-partial"),
    row("signature-unverified", "proof-forged", "proof-tampered proof-unsigned proof-chain-revoked"),
    row("unsigned-believed", "proof-unsigned", ""),
    row("grants-unknown", "claim-unknown", ""),
    row("ids-believed", "id-alone", ""),
    row("grants-silent", "claim-store-silent", ""),
    row("rejects-silent", "claim-store-silent", ""),
    row("malformed-pending", "proof-malformed", ""),
    row("first-proof", "proof-per-claim", "no-such-proof"),
    row("chain-as-of-now", "proof-chain-ended", ""),
    row("revoked-believed", "proof-chain-revoked", ""),
    row("per-account", "credited-once", "owner-unnamed parallel-accounts"),
    row(
      "credits-uploader", "other-owner",
      """
      order-stays-delivered upload-granted token-alone token-wins owner-on-device owner-unnamed bundle-order
      restart-order refund-part-first
      seats-added
      """),
    row("token-ignored", "token-alone", "token-wins owner-on-device owner-unnamed restart-order seats-added"),
    row("token-case", "token-alone", "token-wins owner-on-device owner-unnamed restart-order seats-added"),
    row("claimed-order-wins", "token-wins", "seats-added"),
    row("one-payment", "paid-twice", "bundle-members"),
    row("family-refused", "family-shared", ""),
    row("names-orders", "owner-unnamed", ""),
    row("owner-untold", "owner-on-device", "owner-unnamed owner-without-token"),
    row("credits-signed-in", "owner-without-token", "signed-in-refused"),
    row("claims-all", "receipt-two-accounts", ""),
    row("adopts-again", "device-kept", "restart-adoption"),
    row("adopts-all", "device-own", "device-adopted parallel-adoptions"),
    row("adopts-twice", "device-adopted", "parallel-adoptions"),
    row("adoption-unnamed", "device-adopted", ""),
    row("device-secret-ignored", "device-secret", "restart-device"),
    row("device-name-ignored", "device-mismatch", ""),
    row("adoption-by-name", "adoption-credentials", ""),
    row("signed-in-unchecked", "signed-in-refused", ""),
    row(
      "refunds-unread", "refund-uploaded",
      """
      refund-before-upload refund-notified-first refund-of-one refund-not-again subscription-refunded
      refund-part refund-part-first refund-part-of-period refund-part-grows
      seat-taken-back
      """),
    row(
      "refunds-granted", "refund-before-upload", "refund-notified-first refund-part-first refund-part-grows"),
    row(
      "refund-takes-all", "refund-of-one",
      """
      refund-before-upload refund-notified-first subscription-refunded refund-part-grows refund-part-of-period
      seat-taken-back
      refund-part refund-part-first
      """),
    row("refund-for-ever", "refund-reversed", "refund-part-grows"),
    row("refund-each-time", "refund-notified-again", "refund-of-one refund-part-grows"),
    row("refund-part-as-whole", "refund-part", "refund-part-first refund-part-grows"),
    row("refund-part-adds", "refund-part-grows", ""),
    row("refund-part-once", "refund-part-grows", ""),
    row(
      "refund-part-kept", "refund-part", "refund-part-first refund-part-grows refund-part-of-period"),
    row(
      "notifications-ignored", "refund-notified",
      """
      refund-notified-again subscription-renewal-notified subscription-renewal-once restart-refund
      seats-refund-notified
      """),
    row(
      "refund-notes-ignored", "refund-notified", "refund-notified-again restart-refund seats-refund-notified"),
    row("renewal-notes-ignored", "subscription-renewal-notified", "subscription-renewal-once"),
    row("notes-unverified", "notification-unsigned", "notification-unsigned-inside"),
    row("version-1-believed", "notification-version-1", ""),
    row("renewal-each-time", "subscription-renewal-once", ""),
    row("notes-grant", "notification-grants-none", ""),
    row(
      "notes-need-credentials", "notification-open",
      """
      refund-notified refund-notified-again refund-notified-first subscription-renewal-notified
      subscription-renewal-once restart-refund consent-rescinded
      seats-refund-notified seats-unclaimed
      """),
    row("bad-note-500", "notification-malformed", "notification-unsigned notification-unsigned-inside"),
    row("consent-takes-back", "consent-rescinded", ""),
    row("consent-unread", "consent-rescinded", ""),
    row("expiry-ignored", "subscription-lapsed", ""),
    row("per-chain", "subscription-renewed", "subscription-renewal-owner subscription-upgraded seats-added"),
    row(
      "renewal-to-sender", "subscription-renewal-owner",
      """
      subscription-renewal-once subscription-upgraded
      """),
    row("upgrades-ignored", "subscription-upgraded", ""),
    row(
      "ends-untold", "subscription-granted",
      """
      subscription-renewed subscription-renewal-owner subscription-renewal-notified
      """),
    row("bundle-as-member", "bundle-order", ""),
    row("bundle-once", "bundle-members", ""),
    row("bundle-token-only", "bundle-without-token", ""),
    row("bundle-refunds", "bundle-replaces", ""),
    row("unknown-product-rejected", "bundle-elsewhere", ""),
    row("seats-differ", "seats-added", ""), row("seats-refund-ends", "seats-refunded", ""),
    row("seats-refund-kept", "seats-refunded", ""), row("seat-as-purchase", "seat-with-token", ""),
    row("seat-counts-all", "seat-of-member", "seat-with-token"), row("seat-kept", "seat-taken-back", ""),
    row("seats-note-ends", "seats-refund-notified", ""), row("unclaimed-refused", "seats-unclaimed", ""),
    row(
      "forgets-at-restart", "restart-grant",
      """
      restart-order restart-key restart-numbers restart-epoch restart-adoption restart-device
      """),
    row("forgets-grants-at-restart", "restart-grant", "restart-epoch restart-adoption"),
    row("forgets-orders-at-restart", "restart-order", "restart-key"),
    row("forgets-keys-at-restart", "restart-key", ""),
    row("forgets-refunds-at-restart", "restart-refund", "restart-grant restart-epoch"),
    row("forgets-devices-at-restart", "restart-device", "restart-epoch"),
    row("forgets-adoptions-at-restart", "restart-adoption", "restart-grant restart-epoch"),
    row("epoch-at-restart", "restart-epoch", ""),
    row("html", "order-type", ""),
    row(
      "plain-problems", "auth-missing",
      """
      auth-wrong malformed upload-malformed no-such-proof signed-in-refused
      """),
    row("malformed-500", "malformed", "order-key-needed"),
    row("any-version", "protocol-version", ""),
    row("any-path", "unknown-path", ""),
    row("large-500", "large", ""),
    row("proof-index-ignored", "no-such-proof", ""),
    row("claims-uncounted", "upload-malformed", ""),
    row("race-grant", "parallel-uploads", "upload-claim-twice parallel-accounts"),
    row("race-order", "parallel-orders", ""),
    row("race-duplicate", "parallel-uploads", "parallel-accounts"),
  ]

  /// The others must fail too. `*` stands for the checks that a bug may fail which breaks uploads or orders as such.
  /// `others`: names; an asterisk stands for each check that pays.
  private static func row(_ bug: String, _ finder: String, _ others: String) -> Row {
    let names = others.split(whereSeparator: \.isWhitespace).map(String.init)
    return Row(
      bug: bug, finder: finder, others: names.filter { $0 != "*" }, isBroad: names.contains("*"))
  }
}
