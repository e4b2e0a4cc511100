import Foundation

/// What the end of a payment sheet says about the money. Read without I/O, from values that each system has.
enum SheetEnd {
  /// The store has returned a transaction: a new one, or an earlier one.
  case paid(StoreTransaction)
  /// Another person or the bank has to agree.
  case pending
  /// The sheet was closed. Some payments complete all the same.
  case cancelled
  /// The store did not begin the payment. The only end that proves that nothing was charged.
  case refused(StoreError)
  /// Whether the user was charged is not known.
  case unknown(reason: String)

  /// How many errors inside one another are looked at.
  private static var depth: Int { 8 }

  /// - Parameter product: The product of the order, for an error that names none.
  init(_ result: Result<PurchaseResult, any Error>, of product: String) {
    switch result {
    case .success(.purchased(let transaction)): self = .paid(transaction)
    case .success(.pending): self = .pending
    case .success(.cancelled): self = .cancelled
    case .failure(let error):
      #if canImport(StoreKit)
        if let end = StoreKitStore.end(ofOwnSheet: error, product: product) {
          self.init(end, of: product)
          return
        }
      #endif
      self.init(error, of: product)
    }
  }

  private init(_ error: any Error, of product: String) {
    if let error = error as? StoreError {
      self = error.isBeforePayment ? .refused(error) : .unknown(reason: error.description)
    } else if Self.isCancellation(error) {
      self = .cancelled
    } else if let refusal = StoreError(originalAPI: error as NSError, product: product) {
      self = .refused(refusal)
    } else {
      self = .unknown(reason: Shop.text(of: error))
    }
  }

  /// Whether the user closed the sheet. StoreKit says so in several shapes: by an error of the original API, and by one of
  /// the system's payment sheet that others wrap (purchases-ios#370, openiap#195).
  static func isCancellation(_ error: any Error) -> Bool {
    var next: NSError? = error as NSError
    for _ in 0..<depth {
      guard let error = next else { return false }
      let isClosed =
        (error.domain == StoreError.originalDomain && error.code == 2)  // SKError.paymentCancelled
        || (error.domain == "AMSErrorDomain" && error.code == 6)
      if isClosed { return true }
      next = error.userInfo[NSUnderlyingErrorKey] as? NSError
    }
    return false
  }
}

extension StoreError {
  /// A member of StoreKit's errors that came with iOS 26.5 to 27, by its name; nil for every other.
  init?(newerMember name: String) {
    switch name {
    case "invalidPresentationContext": self = .noSheet
    case "paymentMethodBindingConfigurationRequired": self = .paymentMethodNeeded
    case "multiSeatPurchaseDisabled": self = .unsupported(reason: "this subscription sells no seats")
    case "seatReductionNotAllowed": self = .invalidPayment(reason: "fewer seats than there are")
    default: return nil
    }
  }

  static var originalDomain: String { "SKErrorDomain" }

  /// The errors of the original API by which the App Store refuses a payment before it begins, by the numbers of
  /// `SKError.Code`. Only the outermost error counts: inside another one it may be about a later step. Nil for the others.
  init?(originalAPI error: NSError, product: String) {
    guard error.domain == Self.originalDomain else { return nil }
    switch error.code {
    case 3: self = .invalidPayment(reason: "the store does not know a parameter")
    case 4: self = .notAllowed
    case 5: self = .productUnavailable(productID: product)
    case 11: self = .invalidOffer(reason: "its identifier")
    case 12: self = .invalidOffer(reason: "its signature")
    case 13: self = .invalidOffer(reason: "a parameter is missing")
    case 14: self = .invalidOffer(reason: "its price")
    case 18: self = .ineligible
    default: return nil
    }
  }
}

/// When the shop looks at the store's list after payment sheets that did not say how the payment ended. Without I/O.
///
/// Each such end begins the looks again: the first at once, the others after growing pauses. A look shows the payments of
/// all sheets. After a kill none is needed: each start lists the store.
struct SheetAftermath {
  typealias Instant = ContinuousClock.Instant

  /// From the end of a sheet to the looks after the first, in seconds: a bank's app takes some minutes.
  static let pauses = [5, 15, 45, 120, 300, 600]
  /// The least time between two looks: no number of sheets makes more of them.
  static var pace: Duration { .seconds(1) }

  /// When the newest of these sheets has ended; nil after its last look.
  private var end: Instant?
  /// How many looks there were since.
  private var looks = 0
  private var lastLook: Instant?

  /// A sheet has ended without proof that nothing was charged.
  mutating func begin(at now: Instant) { (end, looks) = (now, 0) }

  /// When the next look is due; nil after the last.
  var next: Instant? {
    guard let end else { return nil }
    let due = looks == 0 ? end : end.advanced(by: .seconds(Self.pauses[looks - 1]))
    return max(due, lastLook?.advanced(by: Self.pace) ?? due)
  }

  /// A look begins. Those that were missed, such as in the background, are not made up for.
  mutating func looked(at now: Instant) {
    lastLook = now
    guard let end else { return }
    looks = 1 + Self.pauses.prefix { end.advanced(by: .seconds($0)) <= now }.count
    if looks > Self.pauses.count { self.end = nil }
  }
}
