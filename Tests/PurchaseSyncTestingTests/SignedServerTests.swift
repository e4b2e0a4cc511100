import AppStoreDocuments
import AppStoreReceipts
import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSync
import Testing

@testable import PurchaseSyncTesting

/// The mock server with real signatures, through HTTP.
struct SignedServerTests {
  private static let fixture = Result { try MockServerFixture(signing: .certificates()) }

  private func signed(
    _ fixture: MockServerFixture, _ payment: MockServerFixture.Payment, _ query: String = ""
  ) async throws -> MockServerFixture.Payment {
    let reply = try await fixture.send("GET", "/store/transactions/\(payment.transactionID)/signed\(query)")
    #expect(reply.status == 200)
    let jws = try #require(JSONValue(json: reply.body)["signedTransactionInfo"]?.string)
    return MockServerFixture.Payment(transactionID: payment.transactionID, signedTransaction: jws)
  }

  @Test func `a payment with a real signature is granted`() async throws {
    let fixture = try Self.fixture.get()
    let payment = try await fixture.pay()
    #expect(try CompactJWS(payment.signedTransaction).decodedHeader.certificates.count == 3)
    #expect(try await fixture.upload(payment)?.verdict == .granted)
    let again = try await fixture.pay()
    #expect(try await fixture.upload(try await signed(fixture, again))?.verdict == .granted)
  }

  @Test(arguments: BrokenProof.allCases)
  func `a broken proof is refused, as a transaction and as a notification`(defect: BrokenProof) async throws {
    let fixture = try Self.fixture.get()
    let payment = try await fixture.pay()
    let broken = try await signed(fixture, payment, "?broken=\(defect.rawValue)")
    // What was right when it was made is none now: the device sends a proof that the store signs today.
    let word = defect == .revoked ? Verdict.unknownTransaction : .rejected
    #expect(try await fixture.upload(broken)?.verdict == word)
    let path = "/store/transactions/\(payment.transactionID)/notification"
    let notification = try await fixture.send("GET", path + "?broken=\(defect.rawValue)")
    let answer = try await fixture.send("POST", "/v1/notifications/appstore", body: notification.body)
    #expect(answer.status == 422)
    let right = try await fixture.send("GET", path)
    #expect(try await fixture.send("POST", "/v1/notifications/appstore", body: right.body).status == 200)
  }

  /// A notification of a type about a transaction; nil if the server refuses to make it.
  private func notification(
    _ fixture: MockServerFixture, _ transactionID: String, _ query: String
  ) async throws -> ServerNotificationV2? {
    let path = "/store/transactions/\(transactionID)/notification"
    let reply = try await fixture.send("GET", path + query)
    guard reply.status == 200 else {
      #expect(reply.status == 422)
      return nil
    }
    let posted = try await fixture.send("POST", "/v1/notifications/appstore", body: reply.body)
    #expect(posted.status == 200, "\(query)")
    return try ServerNotificationV2(json: reply.body)
  }

  @Test func `a notification of a refund or its reversal tells the transaction as it is now`() async throws {
    let fixture = try Self.fixture.get()
    let id = try await fixture.pay().transactionID
    let body = #"{"transactionID":"\#(id)"}"#
    var told: [ServerNotificationV2] = []
    for route in ["", "/store/refunds", "/store/refunds/reversals"] {
      if !route.isEmpty { #expect(try await fixture.send("POST", route, json: body).status == 200) }
      for kind in ["REFUND", "REFUND_REVERSED", "REVOKE"] {
        let made = try #require(try await notification(fixture, id, "?type=\(kind)"))
        #expect(made.kind.rawValue == kind && made.subtype == nil)
        let isRefunded = route == "/store/refunds"
        #expect((try made.details?.transaction()?.revocationDate != nil) == isRefunded, "\(kind) \(route)")
        told.append(made)
      }
    }
    // The first and the last three are of the same state, so they are repetitions.
    #expect(Set(told.compactMap(\.id)).count == 6 && told[0].id == told[6].id)
  }

  @Test(arguments: [
    "", "?type=SUBSCRIBED&subtype=RESUBSCRIBE", "?type=DID_RENEW", "?type=DID_RENEW&subtype=BILLING_RECOVERY",
    "?type=DID_FAIL_TO_RENEW&subtype=GRACE_PERIOD", "?type=GRACE_PERIOD_EXPIRED",
    "?type=EXPIRED&subtype=PRODUCT_NOT_FOR_SALE",
    "?type=DID_CHANGE_RENEWAL_STATUS&subtype=AUTO_RENEW_DISABLED",
    "?type=DID_CHANGE_RENEWAL_PREF&subtype=DOWNGRADE", "?type=OFFER_REDEEMED", "?type=PRICE_CHANGE",
    "?type=PRICE_INCREASE&subtype=PENDING", "?type=METADATA_UPDATE", "?type=MIGRATION", "?type=REFUND",
    "?type=REFUND&subtype=SEATS", "?type=REFUND_DECLINED", "?type=REFUND_REVERSED", "?type=REVOKE",
    "?type=CONSUMPTION_REQUEST", "?type=ONE_TIME_CHARGE", "?type=RENEWAL_EXTENDED",
    "?type=RENEWAL_EXTENSION&subtype=FAILURE",
  ])
  func `each type that tells of a transaction is made with the state of its subscription`(query: String)
    async throws
  {
    let fixture = try MockServerFixture(signing: .certificates())
    let id = try await fixture.pay(product: "monthly").transactionID
    let made = try #require(try await notification(fixture, id, query))
    let words = [made.kind.rawValue, made.subtype?.rawValue].compactMap { $0 }
    let asked = query.isEmpty ? "?type=SUBSCRIBED&subtype=INITIAL_BUY" : query
    #expect(asked == "?type=" + words.joined(separator: "&subtype="))
    #expect(made.details?.subscriptionState == .active)
    #expect(try made.details?.renewalInfo() != nil)
    #expect(try made.details?.transaction()?.transactionID == id)
  }

  @Test(arguments: [
    "?type=TEST", "?type=RESCIND_CONSENT", "?type=UNCLAIM_SEATS", "?type=EXTERNAL_PURCHASE_TOKEN",
    "?type=RENEWAL_EXTENSION&subtype=SUMMARY", "?type=refund", "?type=REFUND&subtype=VOLUNTARY",
    "?type=SUBSCRIBED", "?subtype=SEATS",
  ])
  func `a type without a transaction and a subtype of another type are refused`(query: String) async throws {
    let fixture = try Self.fixture.get()
    #expect(try await notification(fixture, try await fixture.pay().transactionID, query) == nil)
  }

  @Test func `a proof of a chain that has ended is granted, and made before its end only`() async throws {
    let fixture = try MockServerFixture(signing: .certificates())
    let late = try await fixture.pay()
    let path = "/store/transactions/\(late.transactionID)/signed?chain="
    let state = try await fixture.send("GET", "/admin/state")
    guard case .integer(let now)? = try JSONValue(json: state.body)["now"] else { throw CancellationError() }
    fixture.server.moveClock(by: .milliseconds(ChainAge.end.milliseconds - now + 1_000))
    #expect(try await fixture.send("GET", path + "ended").status == 422)
    #expect(try await fixture.send("GET", path + "young").status == 422)
    fixture.server.moveClock(by: .seconds(-86_400))
    let old = try await signed(fixture, try await fixture.pay(), "?chain=ended")
    #expect(try await fixture.upload(old)?.verdict == .granted)
    fixture.server.moveClock(by: .seconds(86_400 * 400))
    #expect(try await fixture.upload(old)?.verdict == .duplicate)
  }

  @Test func `a signed app receipt is recognised, and a broken one is not`() async throws {
    // Its own: a payment of another test would change the receipt.
    let fixture = try MockServerFixture(signing: .certificates())
    _ = try await fixture.pay()
    func status(_ query: String) async throws -> (ReceiptStatus?, Data) {
      let reply = try await fixture.send("GET", "/store/receipt?storeAccount=apple\(query)")
      let receipt = try #require(reply.decode(ReceiptReply.self).receipt)
      let request = VerifyReceiptRequest(receipt: receipt).json
      let answer = try await fixture.send("POST", "/verifyReceipt", body: request)
      return (try VerifyReceiptResponse(json: answer.body).status, receipt)
    }
    let first = try await status("")
    let second = try await status("")
    #expect(first.0 == .ok && first.1 == second.1)
    for defect in [BrokenProof.expiredLeaf, .tamperedPayload] {
      let broken = try await status("&broken=\(defect.rawValue)")
      #expect(broken.0 == .notAuthenticated && broken.1 != first.1)
    }
  }

  @Test func `the root and an app transaction are readable, and an unknown defect is refused`() async throws {
    let fixture = try Self.fixture.get()
    let root = try await fixture.send("GET", "/store/root.cer")
    #expect(root.headers["content-type"] == "application/pkix-cert" && Array(root.body) == TestChain.root)
    let app = try await fixture.send("GET", "/store/app-transaction?storeAccount=apple")
    let jws = try #require(JSONValue(json: app.body)["signedAppTransactionInfo"]?.string)
    let read = try SignedAppTransaction(jws: jws)
    #expect(
      read.appID == 1_234_567_890 && read.bundleID == Sample.bundleID && read.environment == .production)
    #expect(try await fixture.send("GET", "/store/app-transaction").status == 400)
    let unknown = try await fixture.send("GET", "/store/app-transaction?storeAccount=apple&broken=x")
    #expect(unknown.status == 422 && String(decoding: unknown.body, as: UTF8.self).contains("wrong-root"))
    #expect(try await fixture.send("GET", "/store/transactions/7/signed").status == 404)
    #expect(try await fixture.send("GET", "/store/transactions/7/notification").status == 404)
    let question = try await fixture.send(
      "POST", "/store/ocsp", ["Content-Type": "application/ocsp-request"], body: Data([1, 2, 3]))
    #expect(question.headers["content-type"] == "application/ocsp-response")
  }

  @Test func `the certificates name the server's own responder`() async throws {
    let fixture = try Self.fixture.get()
    let payment = try await fixture.pay()
    let text = try #require(try CompactJWS(payment.signedTransaction).decodedHeader.certificates.first)
    let leaf = try #require(Data(base64Encoded: text))
    let address = fixture.server.baseURL.absoluteString + "/store/ocsp"
    #expect(leaf.firstRange(of: Data(address.utf8)) != nil)
  }

  @Test func `the planned defect of a store breaks each proof, and ends with the plan`() throws {
    var store = StoreModel(products: Sample.products, forge: Sample.forge)
    store.notifications.versions = [.two]
    store.faults.brokenProofs = .wrongRoot
    let record = try store.buy("monthly")
    let listed = store.listing(storeAccount: "a", now: Sample.now).transactions.compactMap(\.proof)
    let signed = try store.signedTransaction(for: record.transactionID, now: Sample.now)
    let posted = try store.takeNotifications(now: Sample.now).compactMap {
      try JSONValue(json: Data($0.body.utf8))["signedPayload"]?.string
    }
    #expect(!listed.isEmpty && !posted.isEmpty)
    for jws in listed + posted + [signed] { #expect(!Sample.forge.verify(jws)) }
    let read = store.receipt(storeAccount: "a", now: Sample.now)
    let receipt = try #require(read)
    let proof = ProofDocument(kind: .appReceipt, data: Data(receipt).base64EncodedString())
    #expect(store.verify(.proof(proof), now: Sample.now) == .forged)
    store.faults.brokenProofs = nil
    #expect(Sample.forge.verify(try store.signedTransaction(for: record.transactionID, now: Sample.now)))
    let right = store.receipt(storeAccount: "a", now: Sample.now)
    #expect(right != nil && right != receipt)
  }

  @Test func `a backend that asks another server's store accepts its signatures`() async throws {
    let fixture = try Self.fixture.get()
    let verifier = ServerAPIVerifier(
      store: fixture.server.baseURL,
      forge: ReceiptForge(bundleID: Sample.bundleID, signing: .certificates()), timeout: 60)
    let payment = try await fixture.pay()
    let proof = ProofDocument(kind: .signedTransaction, data: payment.signedTransaction)
    let answer = verifier.answer(to: .proof(proof), now: Sample.now)
    #expect(answer.report?.transactions.map(\.transactionID) == [payment.transactionID])
  }
}
