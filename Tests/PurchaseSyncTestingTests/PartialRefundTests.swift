import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSync
import Testing

@testable import PurchaseSyncTesting

/// Refunds of a part of a purchase: what the backend takes back, to the unit.
struct PartialRefundTests {
  /// What the store says of the purchase of three, one line a second: nothing refunded, or a share; nil for a receipt that
  /// has a date and no share.
  enum Word: Sendable {
    case paid, share(Int), dateOnly

    func record(_ id: String, quantity: Int) -> StoreTransactionRecord {
      var record = Sample.record(id, quantity: quantity)
      switch self {
      case .paid: break
      case .share(let share):
        record.revokedAt = Sample.now
        record.refundedShare = share == 100_000 ? nil : RefundedShare(milliPercent: share)
      case .dateOnly: record.revokedAt = Sample.now
      }
      return record
    }

    func facts(_ id: String, quantity: Int, second: Int) throws -> VerifiedTransaction {
      let at = Self.moment(second)
      let record = record(id, quantity: quantity)
      var facts = VerifiedTransaction(
        try SignedTransaction(jws: Sample.forge.signedTransaction(record, signedAt: at)), askedAt: 0)
      if case .dateOnly = self { (facts.refundedShare, facts.shareToldAt) = (nil, nil) }
      return facts
    }

    static func moment(_ second: Int) -> Timestamp { Sample.now.adding(milliseconds: Int64(second) * 1_000) }
  }

  private static func answer(_ word: Word, _ second: Int, quantity: Int = 3) throws -> StoreAnswer {
    StoreAnswer(.genuine(StoreReport([try word.facts("1", quantity: quantity, second: second)])))
  }

  private static let lives: [([Word], Int)] = [
    ([.paid, .share(33_333)], 2), ([.paid, .share(33_333), .share(66_667)], 1),
    ([.paid, .share(33_333), .share(66_667), .share(100_000)], 0),
    ([.paid, .share(33_333), .share(33_333), .share(33_333)], 2),
    ([.paid, .share(66_667), .share(33_333)], 2), ([.paid, .share(100_000), .share(33_333)], 2),
    ([.paid, .share(33_333), .paid], 3), ([.paid, .share(33_333), .paid, .share(66_667)], 1),
    ([.share(33_333)], 2), ([.share(33_333), .paid], 3), ([.share(100_000)], 0),
    ([.paid, .share(33_333), .dateOnly], 2), ([.dateOnly, .share(33_333)], 2), ([.paid, .dateOnly], 0),
    ([.paid, .share(0)], 3), ([.paid, .share(50_000)], 2),
  ]

  @Test(arguments: lives)
  func `what is credited is what is paid and not refunded, to the unit`(words: [Word], units: Int) throws {
    var backend = BackendFixture()
    let claim = Sample.claim(for: Sample.record("1", quantity: 3))
    for (second, word) in words.enumerated() {
      let answer = try Self.answer(word, second)
      for _ in 0..<2 { backend.upload(claim, answer) }
    }
    #expect(backend.model.entitlements(account: "alice", now: Sample.now)["coins"] ?? 0 == units)
    #expect(backend.model.credits.count <= 1)
    #expect(backend.model.reversals.count <= 1)
  }

  @Test(arguments: lives)
  func `the order and number of the notifications do not matter, before and after the upload`(
    words: [Word], units: Int
  ) throws {
    let claim = Sample.claim(for: Sample.record("1", quantity: 3))
    let lessons = try words.enumerated().map { second, word in
      Lesson(answer: try Self.answer(word, second))
    }
    for uploadAt in 0...lessons.count {
      for order in [lessons, lessons.reversed(), lessons + lessons.reversed()] {
        var backend = BackendFixture()
        for (place, lesson) in order.enumerated() {
          if place == uploadAt { backend.upload(claim, try Self.answer(.paid, 0)) }
          _ = backend.model.learn([lesson], source: .notification("REFUND"), now: Sample.now)
        }
        backend.upload(claim, try Self.answer(.paid, 0))
        #expect(
          backend.model.entitlements(account: "alice", now: Sample.now)["coins"] ?? 0 == units,
          "uploaded at \(uploadAt)")
        #expect(backend.model.credits.count <= 1)
      }
    }
  }

  @Test func `the verdict says the share and the units, and a reversal says that all is there`() throws {
    var backend = BackendFixture()
    let claim = Sample.claim(for: Sample.record("1", quantity: 3))
    var verdicts: [ClaimVerdict] = []
    let words: [Word] = [.share(33_333), .share(66_667), .share(66_667), .paid, .share(100_000)]
    for (second, word) in words.enumerated() {
      verdicts += backend.upload(claim, try Self.answer(word, second))
    }
    #expect(verdicts.map(\.verdict) == [.refunded, .refunded, .refunded, .duplicate, .refunded])
    #expect(verdicts.map(\.refundedShare) == [33_333, 66_667, 66_667, nil, 100_000])
    #expect(verdicts.map(\.refundedUnits) == [1, 2, 2, nil, 3])
    #expect(verdicts.allSatisfy { $0.owner == .yours })
  }

  @Test func `another account learns neither the share nor the units`() throws {
    var backend = BackendFixture()
    let claim = Sample.claim(for: Sample.record("1", quantity: 3))
    backend.upload(claim, try Self.answer(.paid, 0))
    let verdict = try #require(
      backend.upload(claim, try Self.answer(.share(33_333), 1), as: .account("bob")).first)
    #expect(verdict.verdict == .refunded && verdict.owner == .another)
    #expect(verdict.refundedShare == nil && verdict.refundedUnits == nil)
    #expect(backend.model.entitlements(account: "alice", now: Sample.now) == ["coins": 2])
  }

  @Test func `a refund of a part binds the order that the payment names`() throws {
    var backend = BackendFixture()
    let order = try backend.order("alice", quantity: 3)
    var record = Word.share(33_333).record("1", quantity: 3)
    record.accountToken = order.accountToken
    let verdict = try backend.upload(Sample.claim(for: record), holding: [record], as: .account("bob"))
    #expect(verdict.verdict == .refunded && verdict.owner == .another)
    #expect(backend.model.order(number: order.number)?.state == .delivered)
    #expect(backend.model.entitlements(account: "alice", now: Sample.now) == ["coins": 2])
  }

  @Test func `a refund of what is left of a period ends it, and nothing else`() throws {
    var backend = BackendFixture()
    let month = 30 * Sample.day
    func period(_ index: Int64, share: Int? = nil) -> StoreTransactionRecord {
      let began = Sample.now.adding(milliseconds: index * month)
      var record = Sample.record(
        "\(index + 1)", original: "1", product: "monthly", expiresAt: began.adding(milliseconds: month),
        purchasedAt: began)
      record.kind = .autoRenewable
      if let share {
        record.revokedAt = began.adding(milliseconds: 10 * Sample.day)
        record.refundedShare = RefundedShare(milliPercent: share)
      }
      return record
    }
    let other = Sample.record("9", product: "coins", quantity: 3)
    for record in [period(0), other] {
      #expect(try backend.upload(Sample.claim(for: record), holding: [record]).verdict == .granted)
    }
    func has(_ product: String, day: Int64) -> Bool {
      let now = Sample.now.adding(milliseconds: day * Sample.day)
      return backend.model.entitlements(account: "alice", now: now)[product] != nil
    }
    let later = Sample.now.adding(milliseconds: 11 * Sample.day)
    let verdict = try backend.upload(
      Sample.claim(for: period(0)), holding: [period(0, share: 66_667)], at: later)
    #expect(verdict.verdict == .refunded)
    #expect(verdict.refundedShare == 66_667 && verdict.refundedUnits == 1)
    #expect(has("monthly", day: 9) && !has("monthly", day: 11))
    #expect(has("coins", day: 11))
    // Bought again: the next period is a purchase of its own.
    let again = period(1)
    #expect(
      try backend.upload(
        Sample.claim(for: again), holding: [period(0, share: 66_667), again],
        at: Sample.now.adding(milliseconds: month)
      ).verdict == .granted)
    #expect(has("monthly", day: 31) && !has("monthly", day: 11))
  }

  @Test(arguments: [false, true])
  func `the rest of a replaced plan's price takes no plan back`(isUpgradeKnownFirst: Bool) throws {
    var backend = BackendFixture()
    var old = Sample.record(
      "1", product: "monthly", expiresAt: Sample.now.adding(milliseconds: 30 * Sample.day))
    old.kind = .autoRenewable
    let claim = Sample.claim(for: old)
    #expect(try backend.upload(claim, holding: [old]).verdict == .granted)
    var upgraded = old
    upgraded.isUpgraded = true
    var prorated = isUpgradeKnownFirst ? upgraded : old
    (prorated.revokedAt, prorated.refundedShare) = (Sample.now, RefundedShare(milliPercent: 50_000))
    var both = prorated
    both.isUpgraded = true
    for (second, record) in [upgraded, prorated, both].enumerated() {
      if !isUpgradeKnownFirst, second == 0 { continue }
      let at = Word.moment(second + 1)
      let verdict = try backend.upload(claim, holding: [record], at: at)
      if record.isUpgraded { #expect(verdict.verdict == .duplicate) }
    }
    #expect(backend.model.reversals.allSatisfy { $0.undoneAt != nil })
  }

  @Test func `a receipt's refund without a share is completed by the store's record, or waits`() throws {
    var store = StoreModel(products: Sample.products, forge: Sample.forge)
    let paid = try store.pay(
      product: "coins", quantity: 3, accountToken: nil, storeAccount: "a", now: Sample.now)
    try store.refund(transactionID: paid.transactionID, .units(1), now: Sample.now)
    let proof = try store.proof(.appReceipt, of: paid)
    let answer = store.answer(to: .proof(proof), now: Sample.now)
    #expect(answer.report?.transactions.map { $0.refundedShare?.milliPercent } == [33_333])
    #expect(answer.report?.transactions.map(\.isTakenBack) == [false])
    var bare = answer
    var report = try #require(answer.report)
    report.transactions[0].refundedShare = nil
    bare.outcome = .genuine(report)
    #expect(bare.completingRefunds { _ in StoreAnswer(.unavailable) }.outcome == .unavailable)
  }
}

extension BackendFixture {
  /// Uploads one claim that the store answers so.
  @discardableResult
  mutating func upload(
    _ claim: Claim, _ answer: StoreAnswer, as uploader: Uploader = .account("alice")
  ) -> [ClaimVerdict] {
    let proof = ProofDocument(kind: .signedTransaction, data: "unread")
    let request = UploadRequest(device: device, proof: proof, claims: [claim])
    return model.judge(request, from: uploader, now: Sample.now, answers: { _ in answer }).verdicts
  }
}
