import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSync
import Testing

@testable import PurchaseSyncTesting

/// Seats in the backend: what is credited, to whom, and what ends.
struct SeatCreditTests {
  private static let end = Sample.now.adding(milliseconds: 30 * Sample.day)

  /// A paid transaction of Alice's: 5 seats, or some that were added.
  private static func paid(
    _ id: String = "1", seats: Int = 5, revoked: Int = 0, token: UUID? = nil, isAdded: Bool = false,
    isRefunded: Bool = false
  ) -> StoreTransactionRecord {
    var record = Sample.record(
      id, original: "1", product: "team", quantity: seats, token: token, expiresAt: end,
      purchasedAt: Sample.now.adding(milliseconds: isAdded ? Sample.day : 0),
      revokedAt: isRefunded ? Sample.now : nil)
    (record.kind, record.invitations) = (.autoRenewable, .apple)
    (record.revokedSeats, record.isOneOfSeveral) = (revoked, isAdded || id != "1")
    return record
  }

  /// A member's transaction. `isOfPurchaser`: it has the purchaser's original id.
  private static func seat(
    _ id: String, token: UUID? = nil, isOfPurchaser: Bool = false, original: String? = nil
  ) -> StoreTransactionRecord {
    var record = paid(id, token: token)
    record.cause = .assignedSeat
    record.originalTransactionID = original ?? (isOfPurchaser ? "1" : id)
    record.isOneOfSeveral = false
    return record
  }

  private static func facts(
    _ record: StoreTransactionRecord, second: Int64 = 0
  ) throws -> VerifiedTransaction {
    let jws = Sample.forge.signedTransaction(
      record, signedAt: Sample.now.adding(milliseconds: second * 1_000))
    return VerifiedTransaction(try SignedTransaction(jws: jws), askedAt: 0)
  }

  private static func lesson(_ records: [StoreTransactionRecord], second: Int64 = 0) throws -> Lesson {
    Lesson(answer: StoreAnswer(.genuine(StoreReport(try records.map { try facts($0, second: second) }))))
  }

  private static func seats(_ backend: BackendFixture, of account: String, after days: Int64 = 2) -> Int? {
    let now = Sample.now.adding(milliseconds: days * Sample.day)
    return backend.model.holdings(account: account, now: now).first { $0.productID == "team" }?.quantity
  }

  // MARK: Refunds of seats

  private static let lives: [([Int], Int)] = [
    ([0, 2], 3), ([0, 2, 3], 2), ([0, 2, 2], 3), ([0, 2, 0], 5), ([2], 3), ([2, 0, 4], 1), ([0, 5], 0),
  ]

  @Test(arguments: lives)
  func `refunded seats are taken back one by one, and nothing ends`(revoked: [Int], left: Int) throws {
    for uploadAt in 0..<revoked.count {
      for isReversed in [false, true] {
        var backend = BackendFixture()
        let lessons = try revoked.enumerated().map {
          try Self.lesson([Self.paid(revoked: $1)], second: Int64($0))
        }
        for (place, lesson) in (isReversed ? lessons.reversed() : lessons).enumerated() {
          if place == uploadAt {
            let verdict = try backend.upload(Sample.claim(for: Self.paid()), holding: [Self.paid()])
            #expect(verdict.verdict == .granted)
          }
          _ = backend.model.learn([lesson, lesson], source: .notification("REFUND/SEATS"), now: Sample.now)
        }
        let credits = backend.model.credits
        #expect(credits.count == 1)
        #expect(backend.model.units(of: try #require(credits.first)) == left)
        // Who has paid keeps access.
        #expect(Self.seats(backend, of: "alice") == max(1, left))
        #expect(backend.model.reversals.isEmpty)
        let again = try backend.upload(Sample.claim(for: Self.paid()), holding: [Self.paid()])
        #expect(again.verdict == .duplicate)
      }
    }
  }

  @Test func `a period of several transactions ends when all of them are refunded`() throws {
    var backend = BackendFixture()
    for record in [Self.paid(), Self.paid("2", seats: 3, isAdded: true)] {
      _ = try backend.upload(Sample.claim(for: record), holding: [record])
    }
    #expect(Self.seats(backend, of: "alice") == 8)
    _ = backend.model.learn(
      [try Self.lesson([Self.paid(isRefunded: true)], second: 60)], source: .notification("REFUND"),
      now: Sample.now)
    #expect(Self.seats(backend, of: "alice") == 3)
    _ = backend.model.learn(
      [try Self.lesson([Self.paid("2", seats: 3, isAdded: true, isRefunded: true)], second: 60)],
      source: .notification("REFUND"), now: Sample.now)
    #expect(Self.seats(backend, of: "alice") == nil)
  }

  // MARK: Orders

  @Test(arguments: [false, true])
  func `seats that were added pay their own order, also if only the store reports them`(
    isUploaded: Bool
  ) throws {
    var backend = BackendFixture()
    let first = try backend.order("alice", product: "team", quantity: 3)
    let more = try backend.order("alice", product: "team", quantity: 5, key: "more")
    let paid = Self.paid(seats: 3, token: first.accountToken)
    let added = Self.paid("2", seats: 2, token: more.accountToken, isAdded: true)
    #expect(try backend.upload(Sample.claim(for: paid), holding: [paid]).orderNumber == first.number)
    if isUploaded {
      let verdict = try backend.upload(Sample.claim(for: added), holding: [added])
      #expect(verdict.orderNumber == more.number)
    } else {
      _ = backend.model.learn(
        [try Self.lesson([added], second: 1)], source: .notification("DID_CHANGE_RENEWAL_PREF"),
        now: Sample.now)
    }
    #expect(Self.seats(backend, of: "alice") == 5)
    #expect(backend.model.orders.map(\.state) == [.delivered, .delivered])
    #expect(backend.model.doubledCredits == 0)
  }

  // MARK: Members

  @Test(arguments: [false, true], [false, true])
  func `a seat is its member's, and costs and credits its purchaser nothing`(
    carriesToken: Bool, isOfPurchaser: Bool
  ) throws {
    var backend = BackendFixture()
    let order = try backend.order("alice", product: "team", quantity: 5)
    let paid = Self.paid(token: order.accountToken)
    let token = carriesToken ? order.accountToken : nil
    let seats = ["7", "8"].map { Self.seat($0, token: token, isOfPurchaser: isOfPurchaser) }
    #expect(try backend.upload(Sample.claim(for: paid), holding: [paid]).verdict == .granted)
    for (seat, member) in zip(seats, ["bob", "carol"]) {
      // The store reports it first.
      _ = backend.model.learn(
        [try Self.lesson([seat])], source: .notification("SUBSCRIBED"), now: Sample.now)
      let verdict = try backend.upload(Sample.claim(for: seat), holding: [seat], as: .account(member))
      #expect(verdict.verdict == .granted)
      #expect(verdict.owner == .yours)
      #expect(verdict.orderNumber == nil)
      #expect(Self.seats(backend, of: member) == 1)
    }
    #expect(Self.seats(backend, of: "alice") == 5)
    // Her renewal is hers, although the seats are listed under its id.
    var next = Self.paid("9", token: order.accountToken)
    next.cause = .renewal
    next.isOneOfSeveral = false
    next.purchasedAt = Self.end
    next.expiresAt = Self.end.adding(milliseconds: 30 * Sample.day)
    _ = backend.model.learn([try Self.lesson([next])], source: .notification("DID_RENEW"), now: Self.end)
    #expect(backend.model.presentOwner(of: TransactionKey(next)) == .account("alice"))
    #expect(Self.seats(backend, of: "alice", after: 40) == 5)
    #expect(Self.seats(backend, of: "bob", after: 40) == nil)
  }

  @Test(arguments: [Claim.Match.bound, .proposed])
  func `a seat fulfils no order, whatever the claim says`(match: Claim.Match) throws {
    var backend = BackendFixture()
    let order = try backend.order("alice", product: "team", quantity: 5)
    let seat = Self.seat("7", token: order.accountToken)
    let claim = Sample.claim(
      for: seat, match: match, order: match == .bound ? order.number : nil,
      candidates: match == .proposed ? [order.number] : nil)
    let verdict = try backend.upload(claim, holding: [seat], as: .account("bob"))
    #expect(verdict.verdict == .granted)
    #expect(verdict.orderNumber == nil)
    #expect(backend.model.order(number: order.number)?.fulfilledBy == nil)
    #expect(Self.seats(backend, of: "bob") == 1)
    #expect(Self.seats(backend, of: "alice") == nil)
  }

  @Test func `the renewal of a seat goes to the member who had it, if its first transaction says so`() throws
  {
    var backend = BackendFixture()
    let first = Self.seat("7")
    #expect(
      try backend.upload(Sample.claim(for: first), holding: [first], as: .account("bob")).verdict == .granted)
    var next = Self.seat("8", original: "7")
    next.purchasedAt = Self.end
    next.expiresAt = Self.end.adding(milliseconds: 30 * Sample.day)
    _ = backend.model.learn([try Self.lesson([next])], source: .notification("DID_RENEW"), now: Self.end)
    #expect(backend.model.presentOwner(of: TransactionKey(next)) == .account("bob"))
  }

  @Test func `a seat that is taken back ends for its member, and comes back with it`() throws {
    var backend = BackendFixture()
    let seat = Self.seat("7")
    _ = try backend.upload(Sample.claim(for: seat), holding: [seat], as: .account("bob"))
    var taken = seat
    taken.revokedAt = Sample.now
    _ = backend.model.learn(
      [try Self.lesson([taken], second: 60)], source: .notification("REVOKE"), now: Sample.now)
    #expect(Self.seats(backend, of: "bob") == nil)
    _ = backend.model.learn(
      [try Self.lesson([seat], second: 120)], source: .notification("REVOKE"), now: Sample.now)
    #expect(Self.seats(backend, of: "bob") == 1)
  }

  @Test func `an id alone gives a seat to no one`() throws {
    var backend = BackendFixture()
    let seat = Self.seat("7")
    let answer = try StoreAnswer(.genuine(StoreReport([Self.facts(seat)])))
    let request = UploadRequest(device: backend.device, proofs: [], claims: [Sample.claim(for: seat)])
    let judgement = backend.model.judge(
      request, from: .account("bob"), now: Sample.now, answers: { _ in answer })
    #expect(judgement.verdicts.map(\.verdict) == [.unknownTransaction])
    #expect(backend.model.credits.isEmpty)
  }
}
