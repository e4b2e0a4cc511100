import Foundation
import PurchaseQueue
import Testing

@testable import PurchaseSync

/// What the end of a sheet says about the money.
@Suite struct SheetEndTests {
  private static func wrapped(_ inner: NSError, in domains: [(String, Int)]) -> NSError {
    domains.reduce(inner) { inner, outer in
      NSError(domain: outer.0, code: outer.1, userInfo: [NSUnderlyingErrorKey: inner])
    }
  }

  private static let sheet = NSError(domain: "AMSErrorDomain", code: 6)
  private static let closed = NSError(domain: "SKErrorDomain", code: 2)

  @Test(arguments: [
    closed, sheet, wrapped(sheet, in: [("ASDErrorDomain", 907)]),
    wrapped(sheet, in: [("ASDErrorDomain", 500), ("SKErrorDomain", 0)]),
    wrapped(closed, in: [("StoreKit.StoreKitError", 4)]),
  ])
  func `a closed sheet is read in each of its shapes`(error: NSError) {
    guard case .cancelled = SheetEnd(.failure(error), of: "gems") else {
      Issue.record("\(error) is not read as a closed sheet")
      return
    }
  }

  @Test(arguments: [
    (4, StoreError.notAllowed), (5, .productUnavailable(productID: "gems")), (18, .ineligible),
    (11, .invalidOffer(reason: "its identifier")), (12, .invalidOffer(reason: "its signature")),
    (13, .invalidOffer(reason: "a parameter is missing")), (14, .invalidOffer(reason: "its price")),
    (3, .invalidPayment(reason: "the store does not know a parameter")),
  ])
  func `a payment that the store did not begin is named`(code: Int, refusal: StoreError) {
    guard
      case .refused(let read) = SheetEnd(.failure(NSError(domain: "SKErrorDomain", code: code)), of: "gems")
    else {
      Issue.record("SKError \(code) is no refusal")
      return
    }
    #expect(read == refusal)
    let sale = Sale.refused(.storeRefused(read))
    #expect(sale.message.contains("Nothing was charged."))
    for secret in ["SKError", "gems", "token"] { #expect(!sale.message.contains(secret)) }
  }

  @Test(arguments: [
    NSError(domain: "SKErrorDomain", code: 0), NSError(domain: "SKErrorDomain", code: 99),
    NSError(domain: "ASDErrorDomain", code: 907), NSError(domain: "AMSErrorDomain", code: 100),
    NSError(domain: NSURLErrorDomain, code: -1_009), NSError(domain: "bank", code: 4),
    wrapped(NSError(domain: "SKErrorDomain", code: 4), in: [("ASDErrorDomain", 500)]),
  ])
  func `an error that proves nothing does not say that nothing was charged`(error: NSError) {
    guard case .unknown(let reason) = SheetEnd(.failure(error), of: "gems") else {
      Issue.record("\(error) is taken for a proof")
      return
    }
    #expect(reason == "\(error.domain) \(error.code)")
  }

  @Test(arguments: [
    ("invalidPresentationContext", StoreError.noSheet),
    ("paymentMethodBindingConfigurationRequired", .paymentMethodNeeded),
    ("multiSeatPurchaseDisabled", .unsupported(reason: "this subscription sells no seats")),
    ("seatReductionNotAllowed", .invalidPayment(reason: "fewer seats than there are")),
    ("somethingOfiOS28", nil), ("unknown", nil),
  ])
  func `a member of a newer system's errors is known by its name`(name: String, refusal: StoreError?) {
    #expect(StoreError(newerMember: name) == refusal)
    #expect(refusal?.isBeforePayment ?? true)
  }

  @Test func `errors inside one another end`() {
    let deep = Self.wrapped(Self.closed, in: Array(repeating: ("wrapper", 1), count: 1_000))
    guard case .unknown = SheetEnd(.failure(deep), of: "gems") else {
      Issue.record("a thousand errors are looked through")
      return
    }
  }

  @Test(arguments: [
    StoreError.unknownAnswer, .sheetFailed(reason: "a network error"), .syncFailed(reason: "no password"),
  ])
  func `an error of the store from the sheet on is unknown`(error: StoreError) {
    guard case .unknown = SheetEnd(.failure(error), of: "gems") else {
      Issue.record("\(error) is taken for a proof")
      return
    }
  }

  @Test(arguments: [
    Sale.cancelled, .pending(.approval), .pending(.payment), .pending(.delivery), .pending(.signIn),
    .pending(.support), .scheduled(product: "gold", from: Date()),
  ])
  func `no text invites to pay again while the outcome is not known`(sale: Sale) {
    let texts = [sale.message] + [SyncError.store(reason: "x").recoverySuggestion].compactMap(\.self)
    for text in texts {
      #expect(!text.lowercased().contains("again"))
      #expect(!text.contains("Nothing was charged."))
    }
  }

  // MARK: The looks at the store

  private let start = ContinuousClock.now

  private func looks(until end: Int, endingSheetsAt ends: [Int], missing: Range<Int> = 0..<0) -> [Int] {
    var (aftermath, looks) = (SheetAftermath(), [Int]())
    for second in 0...end {
      let now = start.advanced(by: .seconds(second))
      if ends.contains(second) { aftermath.begin(at: now) }
      guard let next = aftermath.next, next <= now, !missing.contains(second) else { continue }
      aftermath.looked(at: now)
      looks.append(second)
    }
    return looks
  }

  @Test func `the store is looked at soon and then for some minutes, and no longer`() {
    #expect(looks(until: 100_000, endingSheetsAt: [10]) == [10, 15, 25, 55, 130, 310, 610])
    #expect(looks(until: 1_000, endingSheetsAt: []) == [])
  }

  @Test func `a later sheet begins the looks again`() {
    #expect(
      looks(until: 2_000, endingSheetsAt: [0, 100]) == [0, 5, 15, 45, 100, 105, 115, 145, 220, 400, 700])
  }

  @Test func `looks that were missed in the background are one look`() {
    #expect(looks(until: 2_000, endingSheetsAt: [0], missing: 3..<200) == [0, 200, 300, 600])
    #expect(looks(until: 5_000, endingSheetsAt: [0], missing: 0..<4_000) == [4_000])
  }

  @Test func `a hundred sheets in a second are one look`() {
    var aftermath = SheetAftermath()
    aftermath.begin(at: start)
    aftermath.looked(at: start)
    for _ in 0..<100 { aftermath.begin(at: start) }
    #expect(aftermath.next == start.advanced(by: .seconds(1)))
  }
}
