extension BrokenTable {
  /// Which checks the bugs about one payment fail: its record, its owner, its order.
  static let payments = [
    row("race-periods", "parallel-periods", ""),
    row("race-members", "parallel-members", ""),
    row("race-older", "parallel-older", ""),
    row("race-registered", "parallel-registered", ""),
    row("race-ended", "parallel-ended", ""),
    row("race-candidate", "parallel-candidate", ""),
    row("receipt-token-unasked", "receipt-record-silent", ""),
    row("receipt-cancelled-whole", "receipt-refunded-part", "receipt-refund-silent"),
    row("receipt-cancelled-at-once", "receipt-refund-silent", ""),
    row("receipt-cancellation-unread", "receipt-refunded", "receipt-refunded-part receipt-refund-silent"),
    row("candidate-of-many", "candidate-once", ""),
    row("version-1-first", "notification-version-1-several", ""),
    row("version-1-unknown-ends", "notification-version-1-several", ""),
    row("claim-registers-for-other", "claim-brings-others", ""),
    row("changed-order-rejects", "claim-brings-changed", ""),
    row("registers-any-state", "register-state", ""),
    row("registers-open-first", "register-cancelled", "register-moves-back"),
    row("grace-after-refund", "grace-refunded", ""),
    row("forgets-coverage-at-restart", "restart-covers", ""),
    row("forgets-parts-at-restart", "restart-part", "restart-grant+"),
    row("forgets-graces-at-restart", "restart-grace", "restart-epoch"),
    row("forgets-device-orders-at-restart", "restart-registered", ""),
  ]
}
