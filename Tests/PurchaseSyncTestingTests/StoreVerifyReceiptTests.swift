import AppStoreDocuments
import AppStoreReceipts
import Foundation
import PurchaseQueue
import Testing

@testable import PurchaseSyncTesting

/// Every status of `verifyReceipt`, and the fields of its answers (R1.1, R2; StoreFacts a).
struct StoreVerifyReceiptTests {
  private let secret = "a5b6c7d8"

  @Test func `the unified answer has the sent receipt and all of the customer's transactions`() throws {
    var shop = Shop()
    let coins = try shop.buy("coins")
    let sent = try shop.appReceipt()
    try shop.store.finish(transactionID: coins.transactionID)
    let token = UUID()
    let gold = try shop.buy("gold", token: token)
    let pro = try shop.buy("pro")
    let response = try shop.ask(sent)
    guard case .app(let receipt) = response.receipt else {
      Issue.record("not the unified style")
      return
    }
    #expect(response.status == .ok && response.environment == .production)
    #expect(receipt.bundleID == Sample.bundleID && receipt.receiptType == "Production")
    #expect(receipt.transactions.map(\.transactionID) == [coins.transactionID])
    #expect(response.latestTransactions.map(\.transactionID) == [gold.transactionID, pro.transactionID])
    let period = try #require(response.latestTransactions.first)
    #expect(period.appAccountToken == token.uuidString.lowercased() && period.subscriptionGroupID == "vip")
    #expect(period.expiresDate == gold.expiresAt?.milliseconds && period.ownership == .purchased)
    #expect(period.webOrderLineItemID == gold.webOrderLineItemID)
    let newest = try #require(response.latestReceipt.flatMap { Data(base64Encoded: $0) })
    let decoded = try AppReceipt(decoding: Array(newest))
    #expect(decoded.inApp.map(\.transactionID) == [gold.transactionID, pro.transactionID])
    #expect(decoded.inApp.first?.webOrderLineItemID == gold.webOrderLineItemID.flatMap { Int64($0) })
  }

  @Test func `without subscriptions there is no latest receipt and nothing pending`() throws {
    var shop = Shop()
    try shop.buy("coins")
    let response = try shop.ask(try shop.appReceipt())
    #expect(response.status == .ok && response.latestReceipt == nil)
    #expect(response.latestTransactions.isEmpty && response.pendingRenewals.isEmpty)
    let empty = try shop.ask(try shop.appReceipt(of: "apple-without-purchases"))
    #expect(empty.status == .ok && empty.transactions.isEmpty)
  }

  @Test func `old transactions can be left out, and then the new receipt holds only the newest`() throws {
    var shop = Shop()
    let pro = try shop.buy("pro")
    try shop.buy("gold")
    shop.wait(days: 60)
    _ = try shop.store.refreshReceipt(storeAccount: "a", now: shop.now)
    let receipt = try shop.appReceipt()
    let all = try shop.ask(receipt, excludesOld: false)
    #expect(all.latestTransactions.count == 4)
    let few = try shop.ask(receipt, excludesOld: true)
    let newest = try #require(shop.store.charges.last)
    #expect(few.latestTransactions.map(\.transactionID) == [pro.transactionID, newest.transactionID])
    guard case .app(let held) = few.receipt else { throw MissingProof() }
    #expect(held.transactions.count == 4)
    #expect(few.pendingRenewals.count == 1)
    let again = try shop.ask(try #require(few.latestReceipt))
    guard case .app(let second) = again.receipt else { throw MissingProof() }
    #expect(second.transactions.map(\.transactionID) == [pro.transactionID, newest.transactionID])
  }

  @Test(arguments: [StoreEnvironment.production, .sandbox])
  func `a receipt that went to the other environment's host is sent back`(environment: StoreEnvironment)
    throws
  {
    let other: StoreEnvironment = environment == .production ? .sandbox : .production
    var shop = Shop(environment)
    let paid = try shop.buy("gold")
    for receipt in [try shop.appReceipt(), try shop.oldReceipt(of: paid)] {
      #expect(try shop.ask(receipt).status == .ok)
      let answer = try shop.ask(receipt, host: other)
      #expect(answer.status == (environment == .production ? .productionReceipt : .sandboxReceipt))
      #expect(answer.receipt == nil && answer.environment == nil)
      // Another store made the receipt. This store cannot distinguish it from a forgery.
      var stranger = Shop(other)
      #expect(
        try stranger.ask(receipt).status == (other == .production ? .sandboxReceipt : .productionReceipt))
      #expect(try stranger.ask(receipt, host: environment).status == .notAuthenticated)
      var twin = Shop(environment)
      #expect(try twin.ask(receipt).status == .notAuthenticated)
    }
  }

  @Test func `a wrong secret is refused, and a missing one where there is a subscription`() throws {
    var shop = Shop()
    shop.store.sharedSecret = SharedSecret(secret)
    let coins = try shop.buy("coins", as: "b")
    let gold = try shop.buy("gold")
    let subscriptions = [try shop.appReceipt(), try shop.oldReceipt(of: gold)]
    let others = [try shop.appReceipt(of: "b"), try shop.oldReceipt(of: coins)]
    for receipt in subscriptions + others {
      #expect(try shop.ask(receipt, password: secret).status == .ok)
      let wrong = try shop.ask(receipt, password: "wrong")
      #expect(wrong.status == .wrongSecret && wrong.receipt == nil)
    }
    for receipt in subscriptions { #expect(try shop.ask(receipt).status == .wrongSecret) }
    for receipt in others { #expect(try shop.ask(receipt).status == .ok) }
  }

  @Test(arguments: [
    "", "x", "e30=", "MIA=", "bm90IGEgcmVjZWlwdA==", "ew==", "MIIB-_==", "{", "\u{0}", "====",
  ])
  func `an unreadable receipt is malformed`(data: String) throws {
    var shop = Shop()
    #expect(try shop.ask(data).status == .malformed)
  }

  @Test(arguments: BrokenAppReceipt.allCases)
  func `a broken receipt is malformed or not genuine, and never traps`(how: BrokenAppReceipt) throws {
    var shop = Shop(.sandbox)
    let status = try shop.ask(Data(how.bytes).base64EncodedString()).status
    #expect(status == .malformed || status == .notAuthenticated)
  }

  @Test func `a receipt with one byte changed, wrapped, or of Xcode is refused`() throws {
    var shop = Shop()
    let paid = try shop.buy("coins")
    for receipt in [try shop.appReceipt(), try shop.oldReceipt(of: paid)] {
      var bytes = try #require(Data(base64Encoded: receipt))
      bytes[bytes.count / 2] ^= 1
      let status = try shop.ask(bytes.base64EncodedString()).status
      #expect(status == .notAuthenticated || status == .malformed)
      var wrapped = receipt
      wrapped.insert("\n", at: wrapped.index(wrapped.startIndex, offsetBy: 40))
      let body = JSONValue.object(["receipt-data": .string(wrapped)]).data
      let answer = shop.store.verifyReceipt(body: body, host: .production, now: shop.now)
      #expect(answer == ["status": 21002])
    }
    let xcode = Sample.forge.appReceipt(of: [paid], receiptType: "Xcode", createdAt: shop.now)
    for host in [StoreEnvironment.production, .sandbox] {
      #expect(try shop.ask(Data(xcode).base64EncodedString(), host: host).status == .malformed)
    }
  }

  @Test(
    arguments: [
      ("", 21000), ("{", 21000), ("[]", 21000), ("7", 21000), ("\"x\"", 21000), ("null", 21000),
      ("{}", 21002), (#"{"receipt-data":7}"#, 21002), (#"{"receipt-data":null}"#, 21002),
      (#"{"receipt-data":["x"]}"#, 21002), (#"{"receipt-data":"x","password":[]}"#, 21002),
      (#"{"receipt-data":"x","exclude-old-transactions":{}}"#, 21002),
    ] as [(String, Int64)])
  func `a request that cannot be read has a status`(body: String, status: Int64) throws {
    var shop = Shop()
    let answer = shop.store.verifyReceipt(body: Data(body.utf8), host: .production, now: shop.now)
    #expect(answer == ["status": .integer(status)])
    #expect(try VerifyReceiptResponse(answer).receipt == nil)
  }

  @Test(arguments: BrokenJSON.allCases)
  func `a broken request has a status, and never traps`(how: BrokenJSON) throws {
    var shop = Shop()
    let body = how.bytes(of: ["receipt-data": "MIIB", "password": "x", "exclude-old-transactions": true])
    let answer = shop.store.verifyReceipt(body: body, host: .production, now: shop.now)
    let status = try #require(try VerifyReceiptResponse(answer).status)
    #expect([.badRequest, .malformed].contains(status))
  }

  @Test func `scripted answers come first, in their order, and then the store answers again`() throws {
    var shop = Shop()
    try shop.buy("coins")
    let internalError = ReceiptStatus(rawValue: 21_150)
    shop.store.faults.verifyReceiptAnswers = [
      ScriptedAnswer(.malformed), ScriptedAnswer(.unavailable), ScriptedAnswer(.dataAccess),
      ScriptedAnswer(internalError), ScriptedAnswer(internalError, isRetryable: true),
      ScriptedAnswer(internalError, isRetryable: false, isHyphenated: true),
    ]
    let receipt = try shop.appReceipt()
    let actions = try (0..<7).map { _ in try shop.ask(receipt).action }
    #expect(actions == [.retryThenRefuse, .retry, .retry, .retry, .retry, .refused, .ok])
  }

  @Test func `a refund shows in the old receipt, of a finished consumable too`() throws {
    var shop = Shop()
    let coins = try shop.buy("coins")
    let receipts = [try shop.appReceipt(), try shop.oldReceipt(of: coins)]
    try shop.store.finish(transactionID: coins.transactionID)
    try shop.store.refund(transactionID: coins.transactionID, reason: .problemWithApp, now: shop.now)
    for receipt in receipts {
      let response = try shop.ask(receipt)
      let told = try #require(response.transactions.first)
      #expect(told.cancellationDate == shop.now.milliseconds && told.cancellationReason == .problemWithApp)
    }
  }

  @Test func `turning renewal off in the grace period takes the pending renewal away`() throws {
    var shop = Shop()
    let gold = try shop.buy("gold")
    shop.store.setBilling(works: false, storeAccount: "a", now: shop.now)
    shop.wait(days: 30)
    #expect(try shop.ask(try shop.appReceipt()).pendingRenewals.first?.gracePeriodExpiresDate != nil)
    try shop.store.setRenewal(on: false, transactionID: gold.transactionID, now: shop.now)
    #expect(try shop.ask(try shop.appReceipt()).pendingRenewals.isEmpty)
    shop.wait(days: 16)
    #expect(try shop.status().state == .lapsed(.cancelled))
  }
}
