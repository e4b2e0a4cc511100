extension BrokenTable {
  /// Which checks the bugs about texts, numbers, and what comes late fail.
  static let mistakes = [
    row("restored-again", "restored-once", ""),
    row("long-receipt-waits", "receipt-too-long", ""),
    row("ids-as-numbers", "id-as-number", ""),
    row("notification-as-proof", "proof-other-text", ""),
    row("product-case-ignored", "order-product-case", ""),
    row("quantity-of-32-bits", "order-quantity-large", ""),
    row("charset-refused", "order-charset", ""),
    row("page-unlimited", "order-page-limit", ""),
    row("registered-token-ignored", "register-other-token", ""),
    row("period-by-arrival", "period-order", "chain-first-late"),
    row("extension-notes-ignored", "period-extended", ""),
    row("downgrade-at-once", "plan-downgraded", ""),
    row("seat-renewals-anyones", "seat-renewal", ""),
    row("late-token-ignored", "token-learnt", "token-learnt-frees"),
    row("receipt-silence-rejects", "receipt-silent", ""),
    row("credited-over-lapsed", "period-credited-over", ""),
    row("device-candidates-by-clock", "candidate-clock", ""),
    row("nested-500", "json-nested", ""),
    row("nul-500", "text-nul", "id-odd"),
    row("odd-version-1-500", "notification-version-1-odd", ""),
    row("race-opposite", "parallel-opposite", ""),
  ]
}
