extension BrokenTable {
  /// Which checks the bugs of orders fail.
  static let orders = [
    row(
      "key-ignored", "order-idempotent",
      """
      order-key-reused order-key-product order-key-status order-key-paid order-key-whole restart-key
      parallel-orders
      """),
    row("key-shared", "order-key-per-account", ""),
    row("key-conflict", "order-key-reused", "order-key-product"),
    row(
      "key-not-needed", "order-key-needed",
      """
      parallel-notified parallel-period-notified parallel-renewal
      """),
    row(
      "order-waiting", "order-made",
      """
      order-read order-list-as-read register-moves token-wins candidate-differs other-quantity
      other-product restart-order order-not-ended bundle-guess bundle-guess-named bundle-one-order
      candidate-first candidate-later candidate-of-other candidate-own candidate-product
      candidates-of-several claim-of-renewal claim-of-seat claim-of-share claimed-order-differs
      share-with-token claim-brings-changed restart-registered
      """),
    row("order-one-unit", "order-read", "order-list-as-read"),
    row("one-token", "order-unique", "* order-key-per-account order-list-as-read+ seats-added"),
    row(
      "device-orders-rejected", "order-registered-paid",
      """
      register-delivered claim-registers claim-brings-taken late-registration claim-brings-changed
      claim-brings-others parallel-registered register-cancelled register-state
      """),
    row("any-product", "order-product", "order-key-refused order-no-product order-product-case"),
    row("strict-members", "order-unknown-members", "upload-unknown-members"),
    row("limit-ignored", "order-pages", ""),
    row(
      "orders-unlisted", "order-listed",
      """
      order-oldest-first order-filter order-list-delivered order-list-as-read
      """),
    row(
      "unknown-order-500", "order-unknown",
      """
      order-move-unknown order-odd-numbers register-path form-problems claim-brings-others
      """),
    row(
      "cancel-forgotten", "order-ended",
      """
      order-filter order-filter-pages order-defer-late restart-cancelled candidate-cancelled
      """),
    row(
      "cancelled-unpayable", "order-paid-late", "order-cancelled-delivered parallel-ended register-cancelled"),
    row("cancels-delivered", "order-stays-delivered", "parallel-ended"),
    row("registers-changes", "order-registered", "register-conflict"),
    row("key-without-product", "order-key-product", ""),
    row("key-201", "order-key-status", ""),
    row("key-until-paid", "order-key-paid", ""),
    row("key-cut", "order-key-whole", ""),
    row("key-caseless", "order-key-case", ""),
    row("key-of-refusal", "order-key-refused", ""),
    row("any-quantity", "order-quantity", ""),
    row("text-quantity", "order-quantity", ""),
    row("blank-product", "order-no-product", ""),
    row("created-in-seconds", "order-times", "order-list-as-read"),
    row("expires-in-seconds", "order-times", "order-list-as-read"),
    row("page-skips-one", "order-pages-all", "order-pages order-filter-pages"),
    row("newest-first", "order-oldest-first", ""),
    row("filter-ignored", "order-filter", "order-filter-pages order-list-delivered"),
    row("filter-on-first-page", "order-filter-pages", ""),
    row("delivered-unlisted", "order-list-delivered", ""),
    row("listed-differently", "order-list-as-read", ""),
    row("next-for-ever", "order-last-page", ""),
    row("defers-cancelled", "order-defer-late", ""),
    row("defers-once", "order-defer-again", ""),
    row("defers-delivered", "order-defer-delivered", "parallel-ended"),
    row("deferred-unpayable", "order-deferred-paid", "parallel-ended"),
    row("cancelled-for-ever", "order-cancelled-delivered", "parallel-ended"),
    row("moves-unknown", "order-move-unknown", ""),
    row("odd-numbers-500", "order-odd-numbers", ""),
    row("any-number", "register-number", ""),
    row("path-ignored", "register-path", ""),
    row("own-token-taken", "register-token", ""),
    row("token-taken", "register-token-of-other", ""),
    row("device-token-taken", "register-token-twice", ""),
    row("conflict-422", "register-conflict", "register-other-token"),
    row("registers-once", "register-moves", ""),
    row("registers-open", "register-moves-back", ""),
    row("registers-delivered", "register-delivered", ""),
    row("registers-unsold", "register-unsold", "form-orders+"),
  ]
}
