import PurchaseSync

/// How long ids may be, in bytes of UTF-8. The real ones are far shorter; without a bound, each row of the backend and of
/// the store could take megabytes.
enum IDLimits {
  /// Orders, products, accounts, devices, launches, keys.
  static let name = 255
  /// Transactions and environments: "18 digits for family-shared" (StoreFacts a.5).
  static let transaction = 64
  /// How many candidates a proposed claim may have.
  static let candidates = 1_000

  /// Throws 400 if the text is too long.
  static func check(_ text: String?, _ limit: Int, _ place: @autoclosure () -> String) throws {
    guard let text, text.utf8.count > limit else { return }
    throw HTTPProblem.malformed("\(place()): \(text.utf8.count) bytes long; it may have \(limit)")
  }
}

extension UploadBody {
  /// Throws 400 if an id is too long.
  func checkLengths() throws {
    if case .receipt(let upload) = self { try IDLimits.check(upload.account, IDLimits.name, "uid") }
    for (index, claim) in claims.enumerated() {
      let place = "claims.\(index)."
      try IDLimits.check(claim.transactionID, IDLimits.transaction, place + "transactionID")
      try IDLimits.check(
        claim.originalTransactionID, IDLimits.transaction, place + "originalTransactionID")
      try IDLimits.check(claim.environment, IDLimits.transaction, place + "environment")
      try IDLimits.check(claim.productID, IDLimits.name, place + "productID")
      try IDLimits.check(claim.orderNumber, IDLimits.name, place + "orderNumber")
      try IDLimits.check(claim.order?.number, IDLimits.name, place + "order.number")
      guard claim.candidates?.count ?? 0 <= IDLimits.candidates else {
        throw HTTPProblem.malformed(place + "candidates: more than \(IDLimits.candidates)")
      }
      for candidate in claim.candidates ?? [] {
        try IDLimits.check(candidate, IDLimits.name, place + "candidates")
      }
    }
  }
}
