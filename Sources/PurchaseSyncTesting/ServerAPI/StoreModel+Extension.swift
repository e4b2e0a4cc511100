import AppStoreReceipts
import PurchaseQueue

/// A request to postpone the renewal of subscriptions, as its body has it.
struct RenewalExtension: Hashable {
  var days: Int64
  var requestIdentifier: String

  static let longestIdentifier = 128

  init(body: JSONValue) throws(ServerAPIError) {
    guard let days = body["extendByDays"]?.wholeNumber, 1...90 ~= days else { throw .invalidExtendByDays }
    guard let reason = body["extendReasonCode"]?.wholeNumber, 0...3 ~= reason else {
      throw .invalidExtendReason
    }
    guard let identifier = body["requestIdentifier"]?.string, !identifier.isEmpty,
      identifier.utf8.count <= Self.longestIdentifier
    else { throw .invalidRequestIdentifier }
    (self.days, requestIdentifier) = (days, identifier)
  }
}

/// The result of a request for all subscribers of a product.
struct MassExtension: Hashable, Sendable, Codable {
  var productID: String
  var requestIdentifier: String
  var completedAt: Timestamp
  var succeeded: Int
  var failed: Int
}

extension StoreModel {
  /// "Subscriptions that have already received two renewal date extensions within the past 365 days" get no third one.
  private static let extensionsPerYear = 2

  /// Postpones the renewal of one subscription. Returns the transaction of its period, which now ends later.
  mutating func extendRenewal(
    ofOriginal id: String, by days: Int64, now: Timestamp
  ) throws(ServerAPIError) -> StoreTransactionRecord {
    advance(to: now)
    guard Self.isTransactionID(id) else { throw .invalidOriginalTransactionID }
    guard let record = transaction(id), record.kind == .autoRenewable, record.originalTransactionID == id
    else { throw .originalTransactionNotFound }
    guard record.ownership == .purchased else { throw .familyNotExtendable }
    guard var subscription = subscriptions[id] else { throw .originalTransactionNotFound }
    try checkExtendable(subscription, now: now)
    subscription.extend(byMilliseconds: length(ofDays: days), now: now)
    keep(subscription)
    let period = subscription.last
    // Seats that were added are of the same period.
    let paid = transaction(period.transactionID).map { payments(ofPeriodOf: $0).map(\.transactionID) } ?? []
    for id in paid + (shares.copies[period.transactionID] ?? []) {
      guard let position = log.positions[id] else { continue }
      amend(position) { $0.expiresAt = period.endsAt }
      receiptFiles[transactions[position].storeAccount]?.isStale = true
    }
    note(.renewalExtended, period.transactionID, now: now)
    guard let extended = transaction(period.transactionID) else { throw .originalTransactionNotFound }
    return extended
  }

  /// Apple, SubscriptionExtensionIneligibleError: not in a free offer, not in retry or grace, not expired.
  private func checkExtendable(_ subscription: Subscription, now: Timestamp) throws(ServerAPIError) {
    guard subscription.phase == .active else { throw .notExtendable }
    let offerCode = transaction(subscription.last.transactionID)?.offerCode
    guard !subscription.last.isTrial, offerCode == nil else { throw .notExtendable }
    let year = now.adding(milliseconds: -365 * StorePace.day)
    guard subscription.extendedAt.count(where: { $0 > year }) < Self.extensionsPerYear else {
      throw .extendedTooOften
    }
  }

  /// In the sandbox a month is five minutes, and so a day is ten seconds.
  private func length(ofDays days: Int64) -> Int64 {
    switch pace {
    case .real: days * StorePace.day
    case .sandbox: days * 10_000
    case .faster(let factor): max(1, days * StorePace.day / max(1, factor))
    }
  }

  // MARK: All subscribers

  /// How many results are kept: the newest.
  static let keptMassExtensions = 200

  /// Postpones the renewal of all active subscribers of a product. The real store takes its time; the model does it at
  /// once, and reports them in the same notifications.
  mutating func extendRenewals(_ request: RenewalExtension, body: JSONValue, now: Timestamp)
    throws(ServerAPIError)
  {
    advance(to: now)
    if let codes = body["storefrontCountryCodes"], codes != .null {
      guard let codes = codes.array else { throw .invalidStorefront }
      guard !codes.isEmpty else { throw .emptyStorefronts }
      guard codes.allSatisfy({ Self.isCountryCode($0.string ?? "") }) else { throw .invalidStorefront }
    }
    guard let product = body["productId"]?.string, products[product]?.kind == .autoRenewable else {
      throw .invalidProductID
    }
    var result = MassExtension(
      productID: product, requestIdentifier: request.requestIdentifier, completedAt: now, succeeded: 0,
      failed: 0)
    for id in subscriptions.keys.sorted() {
      guard let subscription = subscriptions[id], subscription.plan.productID == product,
        subscription.isEntitled
      else { continue }
      do throws(ServerAPIError) {
        _ = try extendRenewal(ofOriginal: id, by: request.days, now: now)
        result.succeeded += 1
      } catch {
        result.failed += 1
        tell(ofExtension: result, failed: subscription.last.transactionID, now: now)
      }
    }
    massExtensions.removeAll { $0.productID == product && $0.requestIdentifier == request.requestIdentifier }
    massExtensions.append(result)
    massExtensions.removeFirst(max(0, massExtensions.count - Self.keptMassExtensions))
    tell(ofExtension: result, failed: nil, now: now)
  }

  /// The result of an earlier request.
  func massExtension(product: String, requestIdentifier: String) throws(ServerAPIError) -> MassExtension {
    guard
      let result = massExtensions.first(where: {
        $0.productID == product && $0.requestIdentifier == requestIdentifier
      })
    else { throw .extensionNotFound }
    return result
  }

  /// Three letters of ISO 3166-1.
  private static func isCountryCode(_ text: String) -> Bool {
    text.utf8.count == 3 && text.utf8.allSatisfy { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 }
  }
}

extension Subscription {
  /// Lets the present period end later, and notes when that was decided.
  mutating func extend(byMilliseconds length: Int64, now: Timestamp) {
    last.endsAt = last.endsAt.adding(milliseconds: length)
    extendedAt.append(now)
  }
}
