import AppStoreDocuments
import AppStoreReceipts
import Foundation
import PurchaseQueue
import Testing

@testable import PurchaseSyncTesting

/// The exchange with `/verifyReceipt`, answer by answer.
struct VerifyReceiptExchangeTests {
  private let production = VerifyReceiptForge(bundleID: Sample.bundleID)
  private let sandbox = VerifyReceiptForge(bundleID: Sample.bundleID, environment: .sandbox)

  /// The hosts that were asked, and the result.
  private func talk(
    _ replies: [StoreEnvironment: JSONValue]
  ) -> (asked: [StoreEnvironment], answer: StoreAnswer?) {
    var exchange = VerifyReceiptExchange(receiptData: "MIAA", password: SharedSecret("s"))
    var asked: [StoreEnvironment] = []
    for _ in 0..<5 {
      switch exchange.step {
      case .done(let answer): return (asked, answer)
      case .post(let request, let host):
        #expect(request.receiptData == "MIAA" && request.password == SharedSecret("s"))
        asked.append(host)
        exchange.received(replies[host].map { (200, $0.data) }, now: Sample.now)
      }
    }
    return (asked, nil)
  }

  @Test(arguments: [
    (21000, nil, StoreAnswer.Outcome.misconfigured), (21002, nil, .doubtful), (21003, nil, .forged),
    (21004, nil, .misconfigured), (21005, nil, .unavailable), (21009, nil, .unavailable),
    (21010, nil, .refused), (21100, nil, .unavailable), (21150, true, .unavailable),
    (21199, false, .refused), (21099, nil, .unavailable), (-1, nil, .unavailable),
  ])
  func `each status without a receipt has one meaning`(
    status: Int, isRetryable: Bool?, outcome: StoreAnswer.Outcome
  ) {
    let reply = production.failure(ReceiptStatus(rawValue: status), isRetryable: isRetryable)
    let (asked, answer) = talk([.production: reply])
    #expect(asked == [.production])
    #expect(answer == StoreAnswer(outcome, status: ReceiptStatus(rawValue: status)))
  }

  @Test func `a sandbox receipt is asked about at production first, then once in the sandbox`() throws {
    let record = Sample.record(environment: .sandbox)
    let held = sandbox.unified(held: [record], requestedAt: Sample.now)
    let (asked, answer) = talk([.production: production.failure(.sandboxReceipt), .sandbox: held])
    #expect(asked == [.production, .sandbox])
    #expect(answer?.report?.transactions.map(\.environment) == [.sandbox])
  }

  @Test func `two environments that point at each other are not asked for ever`() {
    let (asked, answer) = talk([
      .production: production.failure(.sandboxReceipt), .sandbox: sandbox.failure(.productionReceipt),
    ])
    #expect(asked == [.production, .sandbox])
    #expect(answer == StoreAnswer(.unavailable, status: .productionReceipt))
  }

  @Test(arguments: [
    nil, (503, "{}"), (200, ""), (200, "<html>"), (200, "[]"), (413, #"{"status":0}"#), (200, #"{"a":1}"#),
  ])
  func `an answer that is not the store's proves nothing about the receipt`(reply: (Int, String)?) {
    var exchange = VerifyReceiptExchange(receiptData: "MIAA", password: nil)
    exchange.received(reply.map { ($0.0, Data($0.1.utf8)) }, now: Sample.now)
    #expect(exchange.step == .done(StoreAnswer(.unavailable)))
  }

  @Test func `the old style answers active, lapsed and active again, and the lapsed answer has the period`()
    throws
  {
    let end = Sample.now.adding(milliseconds: 30 * Sample.day)
    let first = Sample.record("1", product: "monthly", expiresAt: end)
    let second = Sample.record(
      "2", original: "1", product: "monthly", expiresAt: end.adding(milliseconds: 30 * Sample.day),
      purchasedAt: end)
    func life(_ latest: StoreTransactionRecord, at moment: Timestamp) throws -> (Int?, StoreReport) {
      let reply = production.oldStyle(
        sent: first, latest: latest, renewal: ForgedRenewal(of: first), requestedAt: moment)
      let answer = try #require(talk([.production: reply]).answer)
      return (answer.status?.rawValue, try #require(answer.report))
    }
    let paid = try life(first, at: Sample.now)
    #expect(paid.0 == 0 && paid.1.transactions.map(\.transactionID) == ["1"])
    let lapsed = try life(first, at: end)
    #expect(lapsed.0 == 21006 && lapsed.1.transactions.map(\.expiresDate) == [end.milliseconds])
    #expect(lapsed.1.transactions.map(\.bundleID) == [Sample.bundleID])
    #expect(lapsed.1.transactions.map(\.environment) == [.production])
    let renewed = try life(second, at: end)
    #expect(renewed.0 == 0 && Set(renewed.1.transactions.map(\.transactionID)) == ["1", "2"])
    #expect(renewed.1.renewals.map(\.chain.originalTransactionID) == ["1"])
  }

  @Test func `a transaction that occurs twice in an answer is merged, and a refund in either counts`()
    throws
  {
    let end = Sample.now.adding(milliseconds: 9)
    let held = Sample.record("1", product: "monthly", expiresAt: end)
    var latest = Sample.record("1", product: "monthly", token: UUID(), expiresAt: end, revokedAt: Sample.now)
    latest.groupID = "7"
    let reply = production.unified(
      held: [held], latest: [latest], renewals: [ForgedRenewal(of: latest)], newReceipt: "MIAB",
      requestedAt: Sample.now)
    let report = try #require(talk([.production: reply]).answer?.report)
    let told = try #require(report.transactions.first)
    #expect(report.transactions.count == 1 && report.latestReceipt == "MIAB")
    #expect(told.revocationDate == Sample.now.milliseconds && told.groupID == "7")
    #expect(told.appAccountToken == latest.accountToken?.uuidString.lowercased())
    #expect(report.renewals.first?.renewal.willAutoRenew == true)
    #expect(!"\(report)".contains("MIAB"))
  }
}
