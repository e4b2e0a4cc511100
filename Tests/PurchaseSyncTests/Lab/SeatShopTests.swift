import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// Seats from the store to the app: the purchaser's phone, the members' phones, and the backend.
@Suite struct SeatShopTests {
  private static let team = "team.monthly"

  private static func run(_ body: @escaping @Sendable (AppLab) async throws -> Void) async throws {
    var product = StoreProduct(
      subscription: team, groupID: team, period: .milliseconds(30 * 86_400_000), price: 7_990)
    product.invitations = .apple
    try await AppLab.run(products: [product, StoreProduct(id: ShopLab.gems, kind: .consumable)], body)
  }

  /// Whether the app was killed.
  @discardableResult
  private static func launch(
    _ lab: AppLab, _ phone: LabPhone, _ book: OutcomeBook, passing time: Duration = .seconds(3_600),
    _ act: @escaping @Sendable (Shop) async throws -> Void = { _ in }
  ) async throws -> Bool {
    let lived: Bool? = try await phone.launch { app in
      let shop = app.shop { book.take($0) }
      try await act(shop)
      try await shop.resume()
      try await lab.pass(time)
      return true
    }
    return lived == nil
  }

  /// The paid transactions, in order.
  private static func paid(_ lab: AppLab) throws -> [StoreTransactionRecord] {
    try lab.server.snapshot().charges
  }

  private static func held(_ book: OutcomeBook) -> Int {
    var last: [EntryKey: Int] = [:]
    for outcome in book.outcomes { last[outcome.key] = outcome.unitsHeld }
    return last.values.reduce(0, +)
  }

  @Test(arguments: [false, true])
  func `seats are bought, added and refunded, and app and backend have what is left`(
    isKilled: Bool
  ) async throws {
    try await Self.run { lab in
      let (phone, book) = (lab.phone(), OutcomeBook())
      if isKilled { phone.dies(.afterPayment) }
      let first = try await Self.launch(lab, phone, book) { shop in
        let sale = try await shop.purchase(Self.team, seats: 3, for: "alice")
        #expect(sale.isFulfilled)
      }
      #expect(first == isKilled)
      if isKilled {
        try await Self.launch(lab, phone, book)
        phone.dies(.afterPayment)
      }
      #expect(Self.held(book) == 3)
      let second = try await Self.launch(lab, phone, book) { shop in
        let sale = try await shop.purchase(Self.team, seats: 5, for: "alice")
        #expect(sale.isFulfilled)
      }
      #expect(second == isKilled)
      if isKilled { try await Self.launch(lab, phone, book) }
      let charges = try Self.paid(lab)
      #expect(charges.map(\.quantity) == [3, 2])
      #expect(charges.allSatisfy { $0.isOneOfSeveral })
      #expect(Self.held(book) == 5)
      // Each payment has its own order.
      #expect(Set(book.outcomes.compactMap(\.orderNumber)).count == 2)
      try await lab.refundSeats(transactionID: charges[0].transactionID, 2)
      try await Self.launch(lab, phone, book)
      #expect(Self.held(book) == 3)
      #expect(book.outcomes.allSatisfy { $0.isFulfilled })
      #expect(book.outcomes.allSatisfy { $0.verdict != .refunded })
      let mock = try lab.server.snapshot()
      #expect(mock.unitsCredited(of: charges[0].transactionID) == 1)
      #expect(mock.unitsCredited(of: charges[1].transactionID) == 2)
      #expect(mock.miscounted.isEmpty)
      #expect(mock.doubledCredits == 0)
      #expect(mock.orders.map(\.state) == [.delivered, .delivered])
    }
  }

  @Test func `a payment for fewer seats than there are charges nothing`() async throws {
    try await Self.run { lab in
      try await Self.launch(lab, lab.phone(), OutcomeBook()) { shop in
        _ = try await shop.purchase(Self.team, seats: 3, for: "alice")
        await #expect(throws: SyncError.self) {
          try await shop.purchase(Self.team, seats: 2, for: "alice")
        }
      }
      #expect(try Self.paid(lab).count == 1)
    }
  }

  @Test(arguments: [false, true], [false, true])
  func `a member's phone gets the seat, and its purchaser keeps what was paid`(
    carriesToken: Bool, isKilled: Bool
  ) async throws {
    try await Self.run { lab in
      let (phone, book) = (lab.phone(), OutcomeBook())
      try await Self.launch(lab, phone, book) { shop in
        _ = try await shop.purchase(Self.team, seats: 3, for: "alice")
      }
      let id = try Self.paid(lab)[0].transactionID
      try await lab.assignSeat(of: id, to: "bobs-apple-id", carriesToken: carriesToken)
      let (others, theirs) = (lab.phone("bobs phone", storeAccount: "bobs-apple-id"), OutcomeBook())
      if isKilled { others.dies(.after(path: "/v1/receipts")) }
      for mustDie in isKilled ? [true, false] : [false] {
        let isDead = try await Self.launch(lab, others, theirs) { shop in
          try await shop.signedIn(as: "bob", adoptingGuest: true)
        }
        #expect(isDead == mustDie)
      }
      #expect(theirs.outcomes.last?.unitsHeld == 1)
      #expect(theirs.outcomes.last?.purchase?.quantity == 1)
      #expect(theirs.outcomes.allSatisfy { $0.orderNumber == nil })
      #expect(Self.held(book) == 3)
      var mock = try lab.server.snapshot()
      let seat = try #require(mock.seats.keys.first)
      let owner = zip(mock.credits, mock.creditOwners).first { $0.0.transaction.transactionID == seat }?.1
      #expect(owner == .account("bob"))
      #expect(mock.misplacedCredits.isEmpty)
      #expect(mock.unitsCredited(of: seat) == 1)
      #expect(mock.unitsCredited(of: id) == 3)
      // The seat is taken back: the member loses it, and the purchaser nothing.
      try await lab.unassignSeat(of: id, from: "bobs-apple-id")
      try await Self.launch(lab, others, theirs)
      #expect(theirs.outcomes.last?.unitsHeld == 0)
      mock = try lab.server.snapshot()
      #expect(mock.unitsCredited(of: seat) == 0)
      #expect(mock.unitsCredited(of: id) == 3)
    }
  }

  @Test(arguments: [false, true])
  func `purchaser and member on one phone, with two accounts, do not get each other's`(
    carriesToken: Bool
  ) async throws {
    try await Self.run { lab in
      let (phone, book) = (lab.phone(), OutcomeBook())
      try await Self.launch(lab, phone, book) { shop in
        _ = try await shop.purchase(Self.team, seats: 3, for: "alice")
      }
      let id = try Self.paid(lab)[0].transactionID
      try await lab.assignSeat(of: id, to: "bobs-apple-id", carriesToken: carriesToken)
      lab.server.withStore { $0.signIn(device: "phone", storeAccount: "bobs-apple-id") }
      let theirs = OutcomeBook()
      try await Self.launch(lab, phone, theirs) { shop in
        try await shop.signedIn(as: "bob", adoptingGuest: true)
      }
      let mock = try lab.server.snapshot()
      let seat = try #require(mock.seats.keys.first)
      let owners = Dictionary(
        zip(mock.credits.map(\.transaction.transactionID), mock.creditOwners),
        uniquingKeysWith: { first, _ in first })
      #expect(owners[seat] == .account("bob"))
      #expect(owners[id] == .account("alice"))
      #expect(mock.misplacedCredits.isEmpty)
    }
  }

  /// A company's own endpoint, which gives what it is asked for once, to who asks.
  private final class Company: PurchaseBackend {
    private let credits = Locked<[String: Int]>([:])
    var credited: [String: Int] { credits.value }
    func verify(_ purchase: UploadedPurchase, for owner: BackendCaller) async throws -> BackendVerdict {
      guard let account = owner.account, !purchase.isGuest else {
        return .pending(reason: "nobody is signed in")
      }
      return credits.withLock { credits in
        let name = account + "/" + purchase.transactionID
        if credits[name] != nil { return .duplicate }
        credits[name] = purchase.quantity
        return .granted
      }
    }
  }

  @Test(arguments: [false, true])
  func `a small backend is told of one seat for a member, and of all for the purchaser`(
    carriesToken: Bool
  ) async throws {
    try await Self.run { lab in
      let company = Company()
      func launch(
        _ phone: LabPhone, as account: String, _ act: @escaping @Sendable (Shop) async throws -> Void
      ) async throws {
        try await phone.launch { app in
          let shop = Shop(
            store: app.store, backend: company, configuration: app.configuration, lifecycle: .explicit,
            credentials: { "token-" + $0.account }, fulfil: { _ in })
          try await shop.signedIn(as: account)
          try await act(shop)
          try await shop.resume()
          try await lab.pass(.seconds(3_600))
        }
      }
      try await launch(lab.phone(), as: "alice") { shop in
        _ = try await shop.purchase(Self.team, seats: 3, for: "alice")
      }
      let id = try Self.paid(lab)[0].transactionID
      try await lab.assignSeat(of: id, to: "bobs-apple-id", carriesToken: carriesToken)
      try await launch(lab.phone("bobs phone", storeAccount: "bobs-apple-id"), as: "bob") { _ in }
      #expect(company.credited["alice/" + id] == 3)
      #expect(company.credited.filter { $0.key.hasPrefix("bob/") }.map(\.value) == [1])
      #expect(company.credited.count == 2)
    }
  }
}
