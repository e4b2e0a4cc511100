import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSync
import TestSupport
import Testing

@testable import PurchaseSyncTesting

/// Random subscriptions in the model of the store. Several backends learn of each in different ways.
struct BackendLivesTests {
  private static let day = Sample.day
  private static let products = [
    StoreProduct(
      subscription: "basic", groupID: "g", level: 2, period: .milliseconds(30 * day), price: 990,
      gracePeriod: .milliseconds(6 * day), trial: .milliseconds(7 * day)),
    StoreProduct(
      subscription: "better", groupID: "g", level: 1, period: .milliseconds(30 * day), price: 1_990,
      gracePeriod: .milliseconds(6 * day)),
  ]

  /// The actions of people and the store in the half year after a purchase.
  private struct Life {
    var store: StoreModel
    var bought: StoreTransactionRecord
    var now = Sample.now
    var random: SplitMix64

    init(seed: UInt64) throws {
      store = StoreModel(products: BackendLivesTests.products, forge: Sample.forge)
      store.notifications.versions = [.one, .two]
      random = SplitMix64(seed: seed)
      bought = try store.pay(
        product: "basic", quantity: 1, accountToken: nil, storeAccount: "a", now: Sample.now)
    }

    mutating func live() {
      for _ in 0..<14 {
        now = now.adding(milliseconds: Int64.random(in: 1...(14 * day), using: &random))
        store.advance(to: now)
        let paid = store.transactions(storeAccount: "a").filter {
          $0.originalTransactionID == bought.transactionID
        }
        guard let last = paid.last, let any = paid.dropFirst().randomElement(using: &random) ?? paid.last
        else {
          continue
        }
        do throws(StoreModelError) {
          switch Int.random(in: 0..<9, using: &random) {
          case 0:
            try store.setRenewal(on: Bool.random(using: &random), transactionID: last.transactionID, now: now)
          case 1: store.setBilling(works: false, storeAccount: "a", now: now)
          case 2, 3: store.setBilling(works: true, storeAccount: "a", now: now)
          case 4: try store.changePlan(transactionID: last.transactionID, to: "better", now: now)
          case 5: try store.changePlan(transactionID: last.transactionID, to: "basic", now: now)
          case 6 where any.transactionID != bought.transactionID:
            _ = try store.refund(transactionID: any.transactionID, now: now)
          case 7: _ = try store.reverseRefund(transactionID: any.transactionID, now: now)
          default: break
          }
        } catch {
          // The store may refuse an action, for example in a subscription that has ended.
          continue
        }
      }
      store.advance(to: now)
    }
  }

  private func granted(_ life: Life) throws -> BackendModel {
    var model = BackendModel(bundleID: Sample.bundleID, seed: 1)
    let signed = try SignedTransaction(
      jws: Sample.forge.signedTransaction(life.bought, signedAt: Sample.now))
    let request = UploadRequest(
      device: UUID(), proof: ProofDocument(kind: .signedTransaction, data: "jws"),
      claims: [Sample.claim(for: life.bought)])
    let judged = model.judge(request, from: .account("alice"), now: Sample.now) { _ in .genuine([signed]) }
    #expect(judged.verdicts.map(\.verdict) == [.granted])
    return model
  }

  @Test(arguments: LongTests.seeds(short: 8, long: 40))
  func `signed notifications in any order, unsigned ones, and the job leave an account with the same`(
    seed: UInt64
  ) throws {
    var life = try Life(seed: seed)
    let start = try granted(life)
    life.live()
    let now = life.now
    var bodies = life.store.takeNotifications(now: now)
    bodies += bodies.shuffled(using: &life.random).prefix(5)
    bodies.shuffle(using: &life.random)

    var bySigned = start
    var byUnsigned = start
    for notification in bodies {
      let notice = try StoreNotice(
        json: Data(notification.body.utf8), bundleID: Sample.bundleID, isSigned: Sample.forge.verify, now: now
      )
      if notification.version == .two {
        #expect(notice.queries.isEmpty && !notice.lessons.isEmpty)
        _ = bySigned.learn(notice.lessons, source: .notification(notice.type), now: now)
      } else {
        #expect(notice.lessons.isEmpty && !notice.queries.isEmpty)
        let lessons = notice.queries.map { Lesson(proof: nil, answer: life.store.answer(to: $0, now: now)) }
        _ = byUnsigned.learn(lessons, source: .notification(notice.type), now: now)
      }
    }
    var byJob = start
    let due = DueSubscription(
      chain: ChainKey(environment: .production, originalTransactionID: life.bought.transactionID),
      reason: .ending)
    let question = JobQuestion(due, newest: nil)
    _ = byJob.finishJob([(question, life.store.answer(to: question.query, now: now))], now: now)

    // "A voluntary cancel during grace removes the element" of `pending_renewal_info` (StoreFacts a.6). A backend that
    // asks then does not learn of the grace period, unlike one that gets signed notifications.
    if let known = life.store.subscription(of: life.bought.transactionID), case .gracePeriod = known.phase,
      !known.willRenew
    {
      return
    }
    let held = byJob.holdings(account: "alice", now: now)
    #expect(bySigned.holdings(account: "alice", now: now) == held)
    #expect(byUnsigned.holdings(account: "alice", now: now) == held)
    for model in [bySigned, byUnsigned, byJob] { #expect(model.doubledCredits == 0) }
    let isEntitled = life.store.subscription(of: life.bought.transactionID)?.isEntitled ?? false
    #expect(held.isEmpty != isEntitled)
  }
}
