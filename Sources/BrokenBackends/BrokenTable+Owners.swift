extension BrokenTable {
  /// Which checks the bugs about owners and devices fail.
  static let owners = [
    row(
      "per-account", "credited-once",
      """
      id-unmoved owner-unnamed chain-first-late adoption-told parallel-accounts
      """),
    row(
      "credits-uploader", "other-owner",
      """
      order-stays-delivered order-list-delivered order-defer-delivered order-deferred-paid
      order-cancelled-delivered register-token-of-other register-delivered upload-granted id-credited
      id-of-other token-alone token-wins owner-on-device owner-unnamed claimed-order claimed-order-told
      claimed-order-of-other candidate candidate-paid other-product-owner claim-registers
      late-registration chain-bought-again chain-token refund-part-first period-lapsed-owner bundle-order
      seats-added claim-bound-to-nothing restart-order
      receipt-token unknown-token-claimed
      """),
    row(
      "token-ignored", "token-alone",
      """
      register-token-of-other id-credited id-of-other token-wins owner-on-device owner-unnamed
      other-product-owner late-registration chain-bought-again chain-token period-lapsed-owner seats-added
      restart-order
      receipt-token
      """),
    row(
      "token-case", "token-alone",
      """
      register-token-of-other id-credited id-of-other token-wins owner-on-device owner-unnamed
      other-product-owner late-registration chain-bought-again chain-token period-lapsed-owner seats-added
      restart-order
      receipt-token
      """),
    row("claimed-order-wins", "token-wins", "id-credited chain-bought-again seats-added"),
    row("one-payment", "paid-twice", "bundle-members"),
    row("family-refused", "family-shared", "notification-revoke"),
    row("names-orders", "owner-unnamed", ""),
    row(
      "owner-untold", "owner-on-device",
      """
      owner-unnamed owner-without-token chain-on-device chain-of-device adoption-later adoption-earlier adoption-told
      adoption-refunded next-phone refund-part-private period-lapsed-owner
      """),
    row(
      "credits-signed-in", "owner-without-token",
      "adoption-later signed-in-refused chain-of-device adoption-refunded"),
    row("claims-all", "receipt-two-accounts", "receipt-token"),
    row("receipt-tokens-unasked", "receipt-token", ""),
    row("claimed-order-ignored", "claimed-order", "claimed-order-of-other"),
    row("claimed-order-untold", "claimed-order-told", ""),
    row("claimed-order-to-sender", "claimed-order-of-other", ""),
    row("candidates-ignored", "candidate", "candidate-paid"),
    row("candidate-unchecked", "candidate-differs", ""),
    row("first-candidate-only", "candidate-paid", ""),
    row("other-quantity-rejected", "other-quantity", ""),
    row("other-quantity-delivers", "other-quantity", "other-product"),
    row("other-product-rejected", "other-product", "other-product-owner"),
    row("other-product-to-sender", "other-product-owner", ""),
    row("unknown-token-rejected", "unknown-token", "claim-registers late-registration unknown-token-claimed"),
    row("unknown-token-final", "unknown-token-claimed", ""),
    row("unknown-order-rejected", "unknown-order", ""),
    row("claims-register-nothing", "claim-registers", ""),
    row("taken-token-rejects", "claim-brings-taken", ""),
    row("late-order-ignored", "late-registration", ""),
    row("chain-keeps-order", "chain-bought-again", ""),
    row("chain-over-token", "chain-token", "seats-added"),
    row("renewals-noted-anyones", "chain-first-late", ""),
    row("renewals-to-device", "chain-on-device", ""),
    row("renewals-from-device", "chain-of-device", ""),
    row("adoption-without-renewals", "chain-adopted", ""),
    row("adopts-again", "device-kept", "restart-adoption"),
    row("adopts-all", "device-own", "uuid-case-adoption parallel-adoptions device-adopted"),
    row("adopts-twice", "device-adopted", "adoption-again parallel-adoptions"),
    row("adoption-unnamed", "device-adopted", "form-adoption parallel-adoptions"),
    row(
      "device-secret-ignored", "device-secret", "device-beside-account adoption-credentials restart-device"),
    row("device-name-ignored", "device-mismatch", ""),
    row("adoption-by-name", "adoption-credentials", ""),
    row("signed-in-unchecked", "signed-in-refused", ""),
    row("adopts-later", "adoption-later", "adoption-again"),
    row("adopts-uploaded", "adoption-earlier", ""),
    row("adopts-once", "adoption-again", ""),
    row("adopts-orders", "adoption-of-orders", ""),
    row("adoption-untold", "adoption-told", "adoption-earlier adoption-refunded"),
    row("adoption-without-refunds", "adoption-refunded", ""),
    row("adoption-needs-purchases", "adoption-empty", "adoption-of-orders"),
    row("first-phone-only", "next-phone", "next-phone-account"),
    row("device-beside-refuses", "device-beside-wrong", ""),
    row("device-beside-ignored", "device-beside-account", ""),
  ]
}
