import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting
import Testing

@testable import Exploration

/// The lean backend of the simulations and the reference backend give the same answers to the same requests.
@Suite struct LeanBackendTests {
  private static let bundle = "com.example.app"
  private static let begin: Int64 = 1_700_000_000_000
  private static let devices = [UUID(), UUID()]

  /// Both backends, their stores, and what happened to them.
  private struct Pair {
    var random: RandomStream
    var lean = LeanBackend()
    var leanStore = LeanStore(storeAccounts: 1)
    var model = BackendModel(bundleID: LeanBackendTests.bundle, seed: 3)
    var store = StoreModel(
      products: [
        StoreProduct(id: "gems", kind: .consumable), StoreProduct(id: "coins", kind: .consumable),
        StoreProduct(
          bundle: "plus", of: [.init("plus.a"), .init("plus.b")], period: .milliseconds(LeanStore.period)),
        team,
      ],
      forge: ReceiptForge(bundleID: LeanBackendTests.bundle))
    var tokens: [UUID] = []
    var ids: [String] = []
    /// How many transactions of the store were looked at for seats.
    private var seen = 0
    var now = LeanBackendTests.begin

    var moment: Timestamp { Timestamp(milliseconds: now) }

    init(seed: UInt64, hasAccountTokens: Bool) {
      random = RandomStream(seed: seed, "pair")
      lean.hasAccountTokens = hasAccountTokens
    }

    mutating func makeOrder() throws {
      let (account, product) = (random.below(2), random.below(4))
      let number = lean.makeOrder(account: account, product: product, at: now)
      let outcome = try model.createOrder(
        OrderRequest(productID: Names.products[product], quantity: Names.units(of: product)),
        account: Names.accounts[account],
        idempotencyKey: "\(number)", now: moment)
      var order = outcome.order
      if lean.hasAccountTokens {
        model.apply(.orderRemoved(order.number))
        order.accountToken = Names.accountToken(account)
        model.apply(.order(order))
      }
      tokens.append(order.accountToken)
    }

    /// Each bundle is another Apple ID's: one has it once.
    private mutating func payBundle(_ order: Int) throws {
      let isTokenOnBoth = random.chance(500)
      _ = leanStore.chargeBundle(
        LeanStore.Sale(
          buyer: 0, product: 2, paidAt: now, order: order, original: 0, forgetsToken: false, proofs: .signed,
          poison: .none, expiresAt: now + LeanStore.period, phone: 0), isTokenOnBoth: isTokenOnBoth)
      store.bundleTokens = isTokenOnBoth ? .all : .first
      let before = store.transactions.count
      _ = try store.pay(
        product: Names.products[2], quantity: 1, accountToken: tokens[order],
        storeAccount: "apple-\(before)", now: moment)
      ids += store.transactions[before...].map(\.transactionID)
    }

    /// Seats that last an hour, so that some have lapsed when they are uploaded.
    private static var team: StoreProduct {
      var team = StoreProduct(id: "pro", kind: .autoRenewable)
      (team.period, team.invitations) = (.seconds(3_600), .apple)
      return team
    }

    /// Another Apple ID pays, and gives a seat to one of its members. What the purchaser has paid is uploaded nowhere.
    private mutating func assignSeat(_ order: Int) throws {
      let payer = "payer-\(store.transactions.count)"
      let paid = try store.pay(
        product: "pro", quantity: 2, accountToken: tokens[order], storeAccount: payer, now: moment)
      try store.assignSeat(
        of: paid.transactionID, to: "member of \(payer)", carriesToken: random.chance(500), now: moment)
      takeSeats()
    }

    /// The store gives each member a transaction at each renewal, too.
    mutating func takeSeats() {
      for record in store.transactions.dropFirst(seen) where record.ownership == .assigned {
        let first = ids.firstIndex(of: record.originalTransactionID) ?? ids.count
        _ = leanStore.charge(
          LeanStore.Sale(
            buyer: 0, product: 3, paidAt: record.purchasedAt.milliseconds, order: -1, original: first,
            forgetsToken: false, proofs: .signed, poison: .none, isRenewal: first < ids.count,
            expiresAt: record.expiresAt?.milliseconds, phone: 0,
            seat: record.accountToken.flatMap { tokens.firstIndex(of: $0) } ?? -1))
        ids.append(record.transactionID)
      }
      seen = store.transactions.count
    }

    mutating func pay() throws {
      let order = tokens.isEmpty || random.chance(300) ? -1 : random.below(tokens.count)
      let product = order < 0 ? random.below(2) : lean.orders[order].product
      if product == 2 { return try payBundle(order) }
      if product == 3 { return try assignSeat(order) }
      let sale = LeanStore.Sale(
        buyer: 0, product: product, paidAt: now, order: order, original: leanStore.sales.count,
        forgetsToken: false, proofs: .signed, poison: .none, expiresAt: nil, phone: 0)
      _ = leanStore.charge(sale)
      let record = try store.pay(
        product: Names.products[product], quantity: Names.units(of: product),
        accountToken: order < 0 ? nil : tokens[order],
        storeAccount: "apple-1", now: moment)
      ids.append(record.transactionID)
    }

    mutating func refund() throws {
      guard !ids.isEmpty else { return }
      let sale = random.below(ids.count)
      // The store refunds a bundle at once.
      guard leanStore.sales[sale].bundle < 0, !leanStore.sales[sale].isSeat, leanStore.refund(sale, at: now)
      else { return }
      _ = try store.refund(
        transactionID: ids[sale], .units(leanStore.sales[sale].refundedUnits), now: moment)
    }

    mutating func adoptDevice() {
      let (phone, account) = (random.below(2), random.below(2))
      lean.adoptDevice(phone, for: account, at: now)
      _ = model.adoptDevice(LeanBackendTests.devices[phone], for: Names.accounts[account], now: moment)
    }

    /// The answers and the states of both backends, as text.
    mutating func upload() throws -> (lean: String, model: String) {
      guard !ids.isEmpty else { return ("", "") }
      let sale = random.below(ids.count)
      guard !isCreditedByItself(sale) else { return ("", "") }
      let isAccount = random.chance(500)
      let who = random.below(2)
      let uploader = isAccount ? who : LeanBackend.device(who)
      let isProven = random.chance(700) || leanStore.sales[sale].original != sale
      let tokenIsTold = !isProven || random.chance(600)
      let match = anyMatch()
      let signedIn = random.below(3) - 1
      let answer = lean.answer(
        on: LeanBackend.LeanClaim(sale: sale, match: match), tokenIsTold: tokenIsTold, isProven: isProven,
        from: uploader, signedIn: signedIn, leanStore, at: now)
      var signed = VerifiedTransaction(
        try SignedTransaction(jws: try store.signedTransaction(for: ids[sale], now: moment)), askedAt: now)
      if !tokenIsTold { signed.appAccountToken = nil }
      let device = LeanBackendTests.devices[isAccount ? 0 : who]
      let request = UploadRequest(
        device: device, proof: isProven ? ProofDocument(kind: .signedTransaction, data: "proof") : nil,
        claims: [claim(sale, match)])
      let judged = model.judge(
        request, from: isAccount ? .account(Names.accounts[who]) : .device(device),
        signedIn: signedIn < 0 ? nil : Names.accounts[signedIn], now: moment,
        answers: { _ in StoreAnswer(.genuine(StoreReport([signed]))) })
      let verdict = try #require(judged.verdicts.first)
      return (
        "\(answer.ruling.verdict.rawValue) \(answer.order.map { "order-\($0 + 1)" } ?? "-") \(answer.owner?.rawValue ?? "-")",
        "\(verdict.verdict.rawValue) \(verdict.orderNumber ?? "-") \(verdict.owner?.rawValue ?? "-")"
      )
    }

    /// The reference backend credits the renewals that it knows, also when they are over. In the simulations each has a claim.
    private func isCreditedByItself(_ sale: Int) -> Bool {
      let sold = leanStore.sales[sale]
      guard let end = sold.expiresAt, end <= now, lean.credit(of: sale) == nil else { return false }
      return (sold.original..<sale).contains {
        leanStore.sales[$0].original == sold.original && lean.credit(of: $0) != nil
      }
    }

    private mutating func anyMatch() -> LeanBackend.LeanClaim.Match {
      guard !tokens.isEmpty else { return .none }
      switch random.below(3) {
      case 0: return .bound(random.below(tokens.count))
      case 1: return .proposed((0..<tokens.count).filter { _ in random.chance(500) })
      default: return .none
      }
    }

    private func claim(_ sale: Int, _ match: LeanBackend.LeanClaim.Match) -> Claim {
      var claim = Claim(
        transactionID: ids[sale], originalTransactionID: ids[sale], environment: "Production",
        productID: Names.products[leanStore.sales[sale].product], quantity: leanStore.sales[sale].units,
        purchasedAt: Timestamp(milliseconds: leanStore.sales[sale].paidAt), match: .none)
      switch match {
      case .bound(let order):
        claim.match = .bound
        claim.orderNumber = "order-\(order + 1)"
      case .proposed(let orders):
        claim.match = .proposed
        claim.candidates = orders.map { "order-\($0 + 1)" }
      case .none: break
      }
      return claim
    }
  }

  @Test(arguments: 0..<40 as Range<UInt64>, [false, true])
  func `the lean backend answers like the reference backend`(seed: UInt64, hasAccountTokens: Bool) throws {
    var pair = Pair(seed: seed, hasAccountTokens: hasAccountTokens)
    for step in 0..<60 {
      pair.now += 1_000 * Int64(1 + pair.random.below(600))
      pair.store.advance(to: pair.moment)
      pair.takeSeats()
      switch pair.random.below(10) {
      case 0...1: try pair.makeOrder()
      case 2...3: try pair.pay()
      case 4: if pair.random.chance(300) { try pair.refund() }
      case 5: if pair.random.chance(300) { pair.adoptDevice() }
      default:
        let (lean, model) = try pair.upload()
        #expect(lean == model, "step \(step)")
        if lean != model { return }
      }
    }
    #expect(pair.lean.credits.count == pair.model.credits.count)
    for (lean, full) in zip(pair.lean.credits, pair.model.credits) {
      #expect(pair.lean.unitsCredited(of: lean.sale, pair.leanStore) == pair.model.units(of: full))
    }
  }
}
