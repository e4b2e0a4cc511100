extension BrokenTable {
  /// Which checks the bugs about owners and devices fail.
  static let owners = [
    row(
      "per-account", "credited-once",
      """
      id-unmoved owner-unnamed chain-first-late adoption-told parallel-accounts bundle-bound-stays
      bundle-fulfilled bundle-guess bundle-guess-named bundle-named bundle-payer
      """),
    row(
      "credits-uploader", "other-owner",
      """
      order-stays-delivered order-list-delivered order-defer-delivered order-deferred-paid
      order-cancelled-delivered register-token-of-other register-delivered upload-granted id-credited
      id-of-other token-alone token-wins owner-on-device owner-unnamed claimed-order claimed-order-told
      claimed-order-of-other candidate candidate-paid other-product-owner claim-registers
      late-registration chain-bought-again chain-token refund-part-first period-lapsed-owner bundle-order
      seats-added claim-bound-to-nothing restart-order bundle-bound-stays bundle-fulfilled bundle-guess
      bundle-guess-named bundle-named bundle-one-order candidate-deferred candidate-first
      candidate-on-device candidate-own candidate-unknown chain-nearest claimed-order-paid
      receipt-too-long token-learnt candidate-clock token-learnt-frees receipt-token unknown-token-claimed
      candidate-once parallel-candidate parallel-ended parallel-registered receipt-record-silent
      receipt-refunded-part register-cancelled register-state restart-registered
      """),
    row(
      "token-ignored", "token-alone",
      """
      register-token-of-other id-credited id-of-other token-wins owner-on-device owner-unnamed
      other-product-owner late-registration chain-bought-again chain-token period-lapsed-owner seats-added
      restart-order bundle-guess-named bundle-named bundle-one-order chain-nearest receipt-too-long
      token-learnt token-learnt-frees receipt-token parallel-registered receipt-record-silent
      restart-registered
      """),
    row(
      "token-case", "token-alone",
      """
      register-token-of-other id-credited id-of-other token-wins owner-on-device owner-unnamed
      other-product-owner late-registration chain-bought-again chain-token period-lapsed-owner seats-added
      restart-order bundle-guess-named bundle-named bundle-one-order receipt-too-long receipt-token
      parallel-registered receipt-record-silent restart-registered
      """),
    row(
      "claimed-order-wins", "token-wins",
      """
      id-credited chain-bought-again seats-added receipt-too-long
      """),
    row("one-payment", "paid-twice", "bundle-members claimed-order-paid"),
    row(
      "family-refused", "family-shared",
      """
      notification-revoke claim-of-share refund-of-shared revoke-share share-with-token
      """),
    row("names-orders", "owner-unnamed", ""),
    row(
      "owner-untold", "owner-on-device",
      """
      owner-unnamed owner-without-token chain-on-device chain-of-device adoption-later adoption-earlier
      adoption-told next-phone refund-part-private period-lapsed-owner adoption-nearest bundle-bound-stays
      bundle-fulfilled bundle-guess bundle-guess-named bundle-named bundle-payer claim-of-renewal
      claim-of-seat claim-of-share consumable-on-phone share-with-token adoption-refunded restart-covers
      """),
    row(
      "credits-signed-in", "owner-without-token",
      """
      adoption-later signed-in-refused chain-of-device adoption-refunded
      """),
    row("claims-all", "receipt-two-accounts", "receipt-token receipt-too-long receipt-record-silent"),
    row("receipt-tokens-unasked", "receipt-token", "receipt-too-long receipt-record-silent"),
    row(
      "claimed-order-ignored", "claimed-order",
      """
      claimed-order-of-other bundle-bound-stays bundle-fulfilled bundle-guess claimed-order-paid
      token-learnt-frees
      """),
    row("claimed-order-untold", "claimed-order-told", "parallel-candidate"),
    row("claimed-order-to-sender", "claimed-order-of-other", "claimed-order-paid"),
    row(
      "candidates-ignored", "candidate",
      """
      candidate-paid candidate-deferred candidate-first candidate-on-device candidate-own
      candidate-unknown candidate-clock candidate-once parallel-candidate
      """),
    row(
      "candidate-unchecked", "candidate-differs",
      """
      candidate-cancelled candidate-later candidate-of-other candidate-own candidate-product
      candidates-of-several
      """),
    row("first-candidate-only", "candidate-paid", "candidate-own candidate-unknown candidates-of-several"),
    row("other-quantity-rejected", "other-quantity", ""),
    row(
      "other-quantity-delivers", "other-quantity",
      """
      other-product claim-of-renewal claim-of-seat claim-of-share claimed-order-differs
      claim-brings-changed
      """),
    row("other-product-rejected", "other-product", "other-product-owner bundle-named"),
    row("other-product-to-sender", "other-product-owner", ""),
    row(
      "unknown-token-rejected", "unknown-token",
      """
      claim-registers late-registration unknown-token-claimed claim-brings-others
      """),
    row("unknown-token-final", "unknown-token-claimed", ""),
    row("unknown-order-rejected", "unknown-order", ""),
    row("claims-register-nothing", "claim-registers", "claim-brings-changed"),
    row("taken-token-rejects", "claim-brings-taken", ""),
    row("late-order-ignored", "late-registration", "parallel-registered"),
    row("chain-keeps-order", "chain-bought-again", ""),
    row("chain-over-token", "chain-token", "seats-added chain-nearest"),
    row("renewals-noted-anyones", "chain-first-late", ""),
    row("renewals-to-device", "chain-on-device", ""),
    row("renewals-from-device", "chain-of-device", ""),
    row("adoption-without-renewals", "chain-adopted", ""),
    row("adopts-again", "device-kept", "restart-adoption"),
    row(
      "adopts-all", "device-own", "uuid-case-adoption+ parallel-adoptions device-adopted consumable-on-phone+"
    ),
    row("adopts-twice", "device-adopted", "adoption-again parallel-adoptions"),
    row("adoption-unnamed", "device-adopted", "form-adoption parallel-adoptions"),
    row(
      "device-secret-ignored", "device-secret", "device-beside-account adoption-credentials restart-device"),
    row("device-name-ignored", "device-mismatch", ""),
    row("adoption-by-name", "adoption-credentials", ""),
    row("signed-in-unchecked", "signed-in-refused", ""),
    row("adopts-later", "adoption-later", "adoption-again"),
    row(
      "adopts-uploaded", "adoption-earlier",
      """
      adoption-nearest candidate-later chain-first-late chain-nearest grace-of-last parallel-adopted
      restart-covers
      """),
    row("adopts-once", "adoption-again", ""),
    row("adopts-orders", "adoption-of-orders", ""),
    row(
      "adoption-untold", "adoption-told",
      """
      adoption-earlier adoption-nearest adoption-refunded restart-covers
      """),
    row("adoption-without-refunds", "adoption-refunded", ""),
    row("adoption-needs-purchases", "adoption-empty", "adoption-of-orders parallel-adopted"),
    row("first-phone-only", "next-phone", "next-phone-account"),
    row("device-beside-refuses", "device-beside-wrong", ""),
    row("device-beside-ignored", "device-beside-account", ""),
  ]
}
