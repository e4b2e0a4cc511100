import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// A refund of a part, from the store to the app: what the outcome, the shop and the backend say of it.
@Suite struct PartialRefundOutcomeTests {
  private static func transactionID(_ lab: AppLab) throws -> String {
    try lab.server.snapshot().charges[0].transactionID
  }

  /// The latest outcome of the purchase decides what it gives.
  private static func gems(_ book: OutcomeBook) -> Int? { book.outcomes.last?.amount(perUnit: 100) }

  /// Of three units: which parts are refunded one after the other (nil takes the refund back), and what is left.
  private static let lives: [([RefundExtent?], Int)] = [
    ([.units(1)], 2), ([.units(1), .units(2)], 1), ([.units(1), .units(2), .whole], 0),
    ([.units(2), .units(1)], 2),
    ([.whole, .units(1)], 2), ([.units(1), nil], 3), ([.units(1), nil, .units(2)], 1),
    ([.units(1), .units(1)], 2),
    // Of a unit that is refunded in part, a part is paid: the backend keeps it, and the wallet with it.
    ([RefundedShare(milliPercent: 50_000).map { .share($0) }], 2),
  ]

  @Test(arguments: lives, [false, true])
  func `app and backend have what is paid and not refunded, also after kills`(
    life: ([RefundExtent?], Int), isKilled: Bool
  ) async throws {
    try await ShopLab.run { lab in
      let (phone, book) = (lab.phone(), OutcomeBook())
      @Sendable func act(_ extent: RefundExtent?) async throws {
        let id = try Self.transactionID(lab)
        if let extent {
          try await lab.refund(transactionID: id, extent)
        } else {
          try await lab.reverseRefund(transactionID: id)
        }
      }
      func launch(_ act: @escaping @Sendable (Shop) async throws -> Void) async throws {
        try await phone.launch { app in
          let shop = app.shop { book.take($0) }
          try await act(shop)
          try await shop.resume()
          try await lab.pass(.seconds(3_600))
        }
      }
      let extents = life.0
      try await launch { shop in
        let sale = try await shop.purchase(ShopLab.gems, quantity: 3, for: "alice")
        #expect(sale.isFulfilled)
        try await lab.pass(.seconds(60))
        if isKilled { return }
        for extent in extents {
          try await act(extent)
          try await shop.resume()
          try await lab.pass(.seconds(3_600))
        }
      }
      if isKilled { for extent in extents { try await launch { _ in try await act(extent) } } }
      #expect(Self.gems(book) == life.1 * 100)
      #expect(book.outcomes.last?.unitsHeld == life.1)
      let mock = try lab.server.snapshot()
      #expect(mock.unitsCredited(of: try Self.transactionID(lab)) == life.1)
      #expect(mock.miscounted.isEmpty)
    }
  }

  @Test func `a purchase of which a part was refunded before its upload is delivered without that part`()
    async throws
  {
    try await ShopLab.run { lab in
      let (phone, book) = (lab.phone(), OutcomeBook())
      phone.dies(.afterPayment)
      try await phone.launch { app in
        _ = try await app.shop { _ in }.purchase(ShopLab.gems, quantity: 3, for: "alice")
      }
      try await lab.refund(transactionID: try Self.transactionID(lab), .units(1))
      try await phone.launch { app in
        let shop = app.shop { book.take($0) }
        try await shop.resume()
        try await lab.pass(.seconds(3_600))
        let stages = await shop.status().purchases.map(\.stage)
        #expect(stages == [.partlyRefunded])
      }
      #expect(book.outcomes.map(\.unitsHeld) == [2])
      #expect(book.outcomes.map(\.refundedUnits) == [1])
      #expect(book.outcomes.map(\.orderNumber).allSatisfy { $0 != nil })
      #expect(Sale(try #require(book.outcomes.first)).message.contains("1 of 3"))
      #expect(try lab.server.snapshot().unitsCredited(of: try Self.transactionID(lab)) == 2)
    }
  }

  /// A backend that says how much is refunded, or nothing of it.
  private struct Company: PurchaseBackend {
    let verdict: BackendVerdict
    func verify(_ purchase: UploadedPurchase, for owner: BackendCaller) async throws -> BackendVerdict {
      verdict
    }
  }

  @Test(
    arguments: [
      (.refunded, nil, 0, 1), (.refunded, 33_333, 2, 0.33333), (.refunded, 0, 3, 0),
      (.partlyRefunded(RefundedShare(units: 2, of: 3) ?? .whole), nil, 1, 0.66667),
      (.partlyRefunded(RefundedShare(units: 2, of: 3) ?? .whole), 33_333, 1, 0.66667),
      (.partlyRefunded(.whole), 33_333, 0, 1), (.granted, 33_333, 3, nil),
    ] as [(BackendVerdict, Int?, Int, Double?)])
  func `what a small backend says of the share counts, and else the proof`(
    verdict: BackendVerdict, proven: Int?, units: Int, share: Double?
  ) async throws {
    try await ShopLab.launch { lab, app in
      let book = OutcomeBook()
      let store = app.store
      let shop = Shop(
        store: store, backend: Company(verdict: verdict), configuration: app.configuration,
        lifecycle: .explicit, credentials: { "token-" + $0.account }, fulfil: { book.take($0) })
      _ = try await shop.purchase(ShopLab.gems, quantity: 3, for: "alice") { order in
        var result = try await store.purchase(order)
        if let proven, case .purchased(var paid) = result {
          paid.revokedAt = paid.purchasedAt
          paid.refundedShare = RefundedShare(milliPercent: proven)
          result = .purchased(paid)
        }
        return result
      }
      try await lab.pass(.seconds(60))
      #expect(book.outcomes.map(\.unitsHeld) == [units])
      #expect(book.outcomes.map(\.refundedShare) == [share])
      await shop.close()
    }
  }

  /// Does not answer at first, and then says that a refund is known, not of how much.
  private struct LateCompany: PurchaseBackend {
    let isOpen = Locked(false)
    func verify(_ purchase: UploadedPurchase, for owner: BackendCaller) async throws -> BackendVerdict {
      guard isOpen.value else { throw BackendFailure.busy(retryAfter: .seconds(60)) }
      return try SignedTransaction(jws: purchase.proof ?? "").revocationDate == nil ? .granted : .refunded
    }
  }

  @Test(arguments: [[1], [1, 2], [1, 2, 3], [2, 1]])
  func `a part that is refunded while the purchase waits for its upload is what the app learns`(parts: [Int])
    async throws
  {
    try await ShopLab.run { lab in
      let (phone, book, company) = (lab.phone(), OutcomeBook(), LateCompany())
      @Sendable func launch(_ act: @escaping @Sendable (LabApp, Shop) async throws -> Void) async throws {
        try await phone.launch { app in
          let shop = Shop(
            store: app.store, backend: company, configuration: app.configuration, lifecycle: .explicit,
            credentials: { "token-" + $0.account }, fulfil: { book.take($0) })
          try await act(app, shop)
          await shop.close()
        }
      }
      try await launch { _, shop in
        _ = try await shop.purchase(ShopLab.gems, quantity: 3, for: "alice")
      }
      for units in parts {
        try await launch { _, shop in
          try await lab.refund(transactionID: try Self.transactionID(lab), .units(units))
          try await shop.resume()
          try await lab.pass(.seconds(120))
        }
      }
      company.isOpen.withLock { $0 = true }
      try await launch { _, shop in
        try await shop.resume()
        try await lab.pass(.seconds(7_200))
      }
      #expect(book.outcomes.last?.unitsHeld == 3 - (parts.last ?? 0))
    }
  }

  @Test(arguments: [BackendVerdict.granted, .partlyRefunded(.whole)], [true, false])
  func `the order of a refunded part is the one that was proposed`(verdict: BackendVerdict, isBuyer: Bool) {
    let claim = Claim(
      transactionID: "1", environment: "Production", productID: "gems", quantity: 3,
      purchasedAt: Timestamp(milliseconds: 0), match: .proposed, candidates: ["7", "8"])
    let answer = ClaimVerdict(
      verdict, of: claim, for: BackendCaller(account: "alice", isBuyer: isBuyer, token: "t"))
    #expect(answer.orderNumber == (isBuyer ? "7" : nil))
  }

  @Test func `a restore returns what a refund of a part has left`() async throws {
    try await BuyingFixture.with { fixture in
      let phone = try fixture.shop(Wallet())
      #expect(try await phone.purchase("pro", for: "alice").isFulfilled)
      await phone.close()
      let half = try #require(RefundedShare(milliPercent: 50_000))
      try fixture.server.withStore { (store) throws(StoreModelError) in
        let id = store.transactions.first?.transactionID ?? "none"
        _ = try store.refund(transactionID: id, .share(half), now: .wallClock())
      }
      let pad = try fixture.shop(Wallet(), configuration: try fixture.configuration("pad"))
      let restored = try await pad.restore(for: "alice")
      #expect(restored.map(\.unitsHeld) == [1])
      #expect(restored.map(\.refundedShare) == [0.5])
      await pad.close()
    }
  }

  @Test func `the status says that the rest of a purchase is on its way until the app has it`() async throws {
    struct Failure: Error {}
    try await ShopLab.run { lab in
      let phone = lab.phone()
      phone.dies(.afterPayment)
      try await phone.launch { app in
        _ = try await app.shop { _ in }.purchase(ShopLab.gems, quantity: 3, for: "alice")
      }
      try await lab.refund(transactionID: try Self.transactionID(lab), .units(1))
      try await phone.launch { app in
        let shop = app.shop { _ in throw Failure() }
        try await shop.resume()
        try await lab.pass(.seconds(60))
        let stages = await shop.status().purchases.map(\.stage)
        #expect(stages == [.onItsWay])
      }
    }
  }

  private static func transaction(
    share: Int?, quantity: Int = 3, expires: Int64? = nil, isUpgraded: Bool? = nil
  ) -> StoreTransaction {
    var transaction = StoreTransaction(
      environment: .production, transactionID: "1", originalTransactionID: "1", productID: "gems",
      quantity: quantity,
      purchasedAt: Timestamp(milliseconds: 1_000), accountToken: nil,
      proof: Payload(kind: ProofKind.appReceipt.rawValue, bytes: []))
    transaction.revokedAt = Timestamp(milliseconds: 2_000)
    transaction.refundedShare = share.flatMap { RefundedShare(milliPercent: $0) }
    transaction.expiresAt = expires.map(Timestamp.init(milliseconds:))
    transaction.isUpgraded = isUpgraded
    return transaction
  }

  @Test(
    arguments: [
      (33_333, 3, nil, nil, .purchase), (100_000, 3, nil, nil, .revocation), (nil, 3, nil, nil, .revocation),
      (60_000, 1, nil, nil, .purchase), (33_333, 1, 9_000, nil, .revocation),
      (33_333, 1, 9_000, true, .upgrade),
      (100_000, 1, 9_000, true, .revocation),
    ] as [(Int?, Int, Int64?, Bool?, TransactionClass)])
  func `a date alone does not make a revocation`(
    share: Int?, quantity: Int, expires: Int64?, isUpgraded: Bool?, expected: TransactionClass
  ) {
    let transaction = Self.transaction(
      share: share, quantity: quantity, expires: expires, isUpgraded: isUpgraded)
    #expect(Classification(transaction).transactionClass == expected)
    #expect(Classification(transaction).origin == .purchase)
  }

  @Test(arguments: [
    (33_333, 100, 200), (66_667, 100, 100), (33_333, 1_000_000, 2_000_000), (50_000, 100, 150),
    (10_000, 100, 270),
    (0, 100, 300), (100_000, 100, 0), (33_333, 0, 0), (33_333, -5, 0), (33_333, .max, .max),
  ])
  func `a wallet takes back the coins of the refunded units, and of a part of a unit its part`(
    share: Int, perUnit: Int, amount: Int
  ) {
    let outcome = Outcome(
      of: Self.transaction(share: share), .refunded, account: "alice", settledAt: Date())
    if perUnit < .max { #expect(outcome.amount(perUnit: perUnit) == amount) }
    #expect(outcome.amount(perUnit: perUnit) != nil)
  }

  @Test(arguments: [
    "refunded:33333:1", "refunded:33333", "refunded:100000:3/another", "refunded:0:0/yours/a:b/c",
  ])
  func `the text of an outcome keeps the share next to owner and account`(text: String) throws {
    let stone = try #require(Tombstone.refundNote(in: text))
    #expect(Tombstone.verdict(in: text) == .refunded)
    let parts = text.split(separator: "/", maxSplits: 2).map(String.init)
    #expect(
      Tombstone.outcome(
        .refunded, owner: parts.count > 1 ? PurchaseOwner(rawValue: parts[1]) : nil,
        provenBy: parts.count > 2 ? parts[2] : nil, refund: stone) == text)
  }

  @Test(arguments: [
    ("refunded/another", false), ("refunded:66667/another", false), ("refunded", false),
    ("refunded:33333:1/yours", false), ("refunded:66667:2/yours", true), ("duplicate/another", true),
  ])
  func `what a stranger learns of a refund is no news for its owner`(answer: String, isNews: Bool) {
    #expect(Tombstone.isNews(answer, since: "refunded:33333:1/yours/alice") == isNews)
  }

  @Test(arguments: [
    "refunded", "refunded:", "refunded:-1", "refunded:100001:1", "refunded:x", "granted:33333:1", "a:1:2:3",
  ])
  func `a text that is no share says nothing of a refund`(text: String) {
    #expect(Tombstone.refundNote(in: text) == nil)
  }

  @Test(
    arguments: [
      (#""refundedShare":33333,"refundedUnits":1"#, 33_333, 1),
      (#""refundedShare":-1,"refundedUnits":1"#, 100_000, 1),
      (#""refundedShare":100001"#, nil, nil), (#""refundedShare":"much","refundedUnits":1"#, 100_000, 1),
      (#""refundedShare":33333,"refundedUnits":-1"#, 33_333, nil),
      (#""refundedShare":33333,"refundedUnits":{}"#, 33_333, nil),
      (#""refundedUnits":1"#, 100_000, 1), (#""refundedShare":0.5"#, nil, nil),
    ] as [(String, Int?, Int?)])
  func `a share that is none leaves the verdict readable`(members: String, share: Int?, units: Int?) throws {
    let body =
      #"{"ledgerEpoch":"e","verdicts":[{"environment":"Production","transactionID":"1","verdict":"refunded",\#(members)}]}"#
    let response = BackendResponse(
      status: 200, contentType: "application/json", body: Data(body.utf8))
    let reply = try #require(ReplyReading.reply(in: response, now: Timestamp(milliseconds: 0)))
    let verdict = try #require(reply.verdicts.first)
    #expect(verdict.verdict == .refunded)
    #expect(RefundNote(verdict)?.share.milliPercent == share)
    #expect(RefundNote(verdict)?.units == units)
  }
}
