extension BrokenTable {
  /// Which checks the bugs of other accounts, of uploads and of statuses fail.
  static let uploads = [
    row("strangers-read", "order-private", "forbidden-silent forbidden-type"),
    row("strangers-list", "order-not-listed", "order-filter order-list-delivered"),
    row("strangers-cancel", "order-not-ended", "forbidden-silent"),
    row("strangers-register", "order-not-registered", ""),
    row(
      "strangers-entitled", "entitlements-private",
      """
      id-of-other receipt-two-accounts other-owner token-wins claimed-order-of-other seat-of-member
      seat-with-token notification-revoke parallel-accounts parallel-adoptions adoption-nearest
      candidate-of-other candidate-own claimed-order-differs token-learnt token-learnt-frees receipt-token
      claim-brings-others receipt-record-silent parallel-members parallel-periods
      """),
    row("no-credentials", "auth-missing", ""),
    row("any-token", "auth-wrong", ""),
    row(
      "double-grant", "upload-again",
      """
      upload-other-proof upload-claim-twice upload-receipt-only verdict-per-claim claim-environment
      claim-partial id-again id-unmoved owner-on-device device-again adoption-told adoption-earlier
      next-phone refund-reversed refund-part-grows subscription-renewal-once bundle-members seats-refunded
      refund-older-proof uuid-case-credential restart-grant parallel-uploads parallel-accounts
      parallel-notified parallel-period-notified parallel-renewal parallel-proofs adoption-nearest
      parallel-opposite restored-once period-credited-over parallel-registered restart-covers
      """),
    row("bare-200", "upload-granted", "*"),
    row("forgets", "upload-granted", "*"),
    row(
      "per-proof", "upload-other-proof",
      """
      upload-receipt-only refund-reversed refund-part-grows subscription-renewal-once seats-refunded
      refund-older-proof restart-grant parallel-renewal parallel-proofs restored-once period-credited-over
      """),
    row(
      "duplicate-as-granted", "upload-again",
      """
      upload-other-proof verdict-per-claim claim-partial id-again id-unmoved device-again adoption-told
      subscription-renewal-once uuid-case-credential restart-grant parallel-uploads parallel-accounts
      parallel-notified parallel-period-notified parallel-renewal parallel-proofs parallel-opposite
      restored-once period-credited-over
      """),
    row(
      "verdict-missing", "verdict-per-claim",
      """
      proof-per-claim upload-hundred claim-partial proof-kind parallel-opposite candidate-once
      """),
    row("verdicts-swapped", "claim-partial", "upload-hundred proof-kind"),
    row("environment-verified", "claim-environment", "environment-word"),
    row("no-epoch", "ledger-epoch", ""),
    row("new-epoch", "ledger-epoch", "restart-epoch"),
    row(
      "one-unit", "upload-quantity",
      """
      other-quantity seats-added seats-refunded seats-refund-notified seat-of-member seat-with-token
      refund-undated-share receipt-refund-silent
      """),
    row(
      "undelivered", "upload-granted",
      """
      order-stays-delivered order-deferred-paid order-cancelled-delivered register-delivered id-credited
      token-alone claimed-order candidate candidate-paid claim-registers late-registration
      chain-bought-again refund-part-first bundle-order seats-added notification-unclaimed
      bundle-bound-stays bundle-guess bundle-guess-named bundle-one-order candidate-deferred
      candidate-first candidate-on-device candidate-own candidate-unknown token-learnt candidate-clock
      token-learnt-frees receipt-token unknown-token-claimed parallel-candidate parallel-ended
      parallel-registered receipt-refunded-part register-cancelled register-state restart-registered
      candidate-once
      """),
    row("fifty-claims", "upload-hundred", ""),
    row("claims-needed", "upload-receipt-only", ""),
    row("claim-product", "claim-product", ""),
    row("claim-quantity", "claim-quantity", ""),
    row("claim-environment", "claim-environment", ""),
    row("claim-transaction", "claim-transaction", "claim-other-proof claim-partial id-as-number"),
    row(
      "signature-unverified", "proof-forged",
      """
      proof-tampered proof-unsigned proof-other-root proof-pasted-root proof-leaf-oid
      proof-intermediate-oid proof-expired proof-short-chain proof-algorithm proof-chain-revoked
      """),
    row("unsigned-believed", "proof-unsigned", ""),
    row("grants-unknown", "claim-unknown", "id-odd id-as-number"),
    row("ids-believed", "id-alone", "id-refunded id-lapsed"),
    row(
      "grants-silent", "claim-store-silent",
      """
      claim-store-refuses status-21005 status-21007 status-21008 status-21009 status-21099 status-21100
      status-21199 status-21120 receipt-record-silent receipt-refund-silent
      """),
    row(
      "rejects-silent", "claim-store-silent",
      """
      claim-store-refuses status-21005 status-21007 status-21008 status-21009 status-21099 status-21100
      status-21199 status-21002-count receipt-silent status-21120 receipt-record-silent
      receipt-refund-silent
      """),
    row("unsigned-answers-reject", "claim-store-unsigned", ""),
    row("malformed-pending", "proof-malformed", "status-21002-always refund-share-range"),
    row("first-proof", "proof-per-claim", "proof-kind proof-unused no-such-proof parallel-opposite"),
    row(
      "ids-unasked", "id-credited",
      """
      claim-store-refuses claim-store-silent id-of-other id-again id-of-chain claim-store-unsigned
      """),
    row("ids-to-sender", "id-of-other", "id-alone id-refunded id-lapsed"),
    row("ids-always-new", "id-again", ""),
    row("ids-without-chain", "id-of-chain", ""),
    row("ids-move", "id-unmoved", ""),
    row("ids-tell-refunds", "id-refunded", ""),
    row("ids-tell-ends", "id-lapsed", ""),
    row("odd-ids-500", "id-odd", "id-as-number"),
    row("status-21000-rejects", "status-21000", ""),
    row("status-21003-waits", "status-21003", ""),
    row("status-21004-rejects", "status-21004", ""),
    row("status-21005-rejects", "status-21005", "status-21002-count"),
    row("status-21007-rejects", "status-21007", ""),
    row("status-21008-rejects", "status-21008", ""),
    row("status-21009-rejects", "status-21009", ""),
    row("status-21010-waits", "status-21010", ""),
    row("status-21099-rejects", "status-21099", ""),
    row("status-21100-rejects", "status-21100", ""),
    row("status-21150-waits", "status-21150", ""),
    row("status-21120-rejects", "status-21120", ""),
    row("status-21160-waits", "status-21160", ""),
    row("status-21199-rejects", "status-21199", ""),
    row("status-21002-rejects", "status-21002", "status-21002-count status-21002-sender"),
    row("status-21002-waits", "status-21002-always", "proof-malformed"),
    row("status-21002-adds", "status-21002-count", "status-21002-sender"),
    row("status-21002-shared", "status-21002-sender", ""),
    row("status-21006-rejects", "status-21006", ""),
    row("old-receipts-malformed", "receipt-of-one", "status-21006"),
    row("in-app-only", "receipt-newer-periods", "receipt-asked-again"),
    row("facts-cached", "receipt-asked-again", ""),
  ]
}
