extension BrokenTable {
  /// Which checks the bugs of restarts, forms and races fail.
  static let forms = [
    row(
      "forgets-at-restart", "restart-grant",
      """
      restart-order restart-key restart-numbers restart-epoch restart-adoption restart-cancelled
      restart-device restart-covers restart-grace restart-part restart-registered
      """),
    row(
      "forgets-grants-at-restart", "restart-grant",
      "restart-epoch restart-adoption restart-part restart-refund+"),
    row("forgets-orders-at-restart", "restart-order", "restart-key restart-cancelled restart-registered"),
    row("forgets-keys-at-restart", "restart-key", "order-key-whole"),
    row("forgets-refunds-at-restart", "restart-refund", "restart-grant+ restart-epoch restart-part"),
    row("forgets-notes-at-restart", "restart-notified", "restart-epoch parallel-older"),
    row("forgets-states-at-restart", "restart-cancelled", ""),
    row("forgets-devices-at-restart", "restart-device", "restart-epoch"),
    row("forgets-adoptions-at-restart", "restart-adoption", "restart-grant+ restart-epoch restart-covers"),
    row("epoch-at-restart", "restart-epoch", ""),
    row("html", "order-type", ""),
    row(
      "plain-problems", "auth-missing",
      """
      register-conflict device-beside-account form-problems auth-wrong malformed upload-malformed
      no-such-proof signed-in-refused
      """),
    row(
      "malformed-500", "malformed",
      """
      order-key-needed order-quantity order-no-product order-quantity-large json-nested
      """),
    row("any-version", "protocol-version", ""),
    row("any-path", "unknown-path", ""),
    row("large-500", "large", "receipt-too-long"),
    row("proof-index-ignored", "no-such-proof", ""),
    row("claims-uncounted", "upload-malformed", "form-problems"),
    row("expires-as-text", "form-order", "order-times order-list-as-read"),
    row("listed-without-time", "form-orders", "order-list-as-read"),
    row("status-as-text", "form-verdicts", ""),
    row("place-as-number", "form-entitlements", "entitlement-place"),
    row("problem-status", "form-problems", ""),
    row(
      "ends-in-seconds", "entitlement-end",
      """
      id-of-chain chain-on-device chain-adopted subscription-granted subscription-renewed
      subscription-renewal-owner subscription-renewal-notified chain-first-late period-extended period-order
      grace-end form-entitlements period-over-soon
      """),
    row("all-in-sandbox", "entitlement-place", ""),
    row("retry-in-milliseconds", "retry-after-seconds", ""),
    row("nulls-refused", "null-members", ""),
    row("null-order-refused", "null-order-number", ""),
    row("null-proofs-refused", "null-proofs", ""),
    row("device-case", "uuid-case", ""),
    row("credential-case", "uuid-case-credential", ""),
    row("adoption-case", "uuid-case-adoption", ""),
    row("scheme-case", "scheme-case", ""),
    row("any-scheme", "scheme-other", ""),
    row("devices-are-guests", "device-no-account", ""),
    row("forbidden-tells", "forbidden-silent", ""),
    row("forbidden-auth", "forbidden-type", ""),
    row("odd-kinds-refused", "proof-kind", ""),
    row("unused-proofs-refused", "proof-unused", "claim-other-proof"),
    row("match-words-refused", "match-word", ""),
    row("place-words-refused", "environment-word", ""),
    row("claim-times-believed", "claim-time", ""),
    row("unverified-rejected", "unverified-flag", ""),
    row("takes-no-id", "claim-no-id", ""),
    row("takes-id-number", "claim-id-number", ""),
    row("takes-no-product", "claim-no-product", ""),
    row("takes-no-units", "claim-no-units", ""),
    row("takes-text-units", "claim-text-units", ""),
    row("takes-text-time", "claim-text-time", ""),
    row("takes-no-match", "claim-no-match", ""),
    row("takes-no-place", "claim-no-place", ""),
    row("takes-bound-to-nothing", "claim-bound-to-nothing", ""),
    row(
      "race-grant", "parallel-uploads",
      """
      upload-claim-twice parallel-accounts parallel-notified parallel-period-notified parallel-proofs
      parallel-renewal parallel-opposite restored-once
      """),
    row("race-order", "parallel-orders", ""),
    row(
      "race-duplicate", "parallel-uploads",
      """
      parallel-accounts parallel-notified parallel-period-notified parallel-proofs parallel-older
      """),
    row("race-noted", "parallel-notified", "parallel-period-notified"),
    row("race-proofs", "parallel-proofs", ""),
    row("race-renewal", "parallel-renewal", "restored-once"),
    row("race-refund", "parallel-refunds", ""),
    row("race-registration", "parallel-registrations", ""),
    row("race-adoption", "parallel-adopted", ""),
  ]
}
