import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSync
import Testing

@testable import PurchaseSyncTesting

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Answers of other servers, and answers that break the protocol. The engine's tests check how the engine handles them.
/// These tests check that the mock server sends them, and which uploads it commits.
struct OddReplyTests {
  /// A distortion, and the verdicts in the reply to two granted claims.
  private static let distortions: [(ReplyDistortion, [String])] = [
    (.wrongTransactions, ["1|0000 granted", "2|0000 granted"]),
    (.unclaimed(.rejected, transactionID: "9"), ["1 granted", "2 granted", "9 rejected"]),
    (
      .contradicting(.rejected, isFirst: false), ["1 granted", "1 rejected", "2 granted", "2 rejected"]
    ),
    (.contradicting(.refunded, isFirst: true), ["1 refunded", "1 granted", "2 refunded", "2 granted"]),
    (.partial(1), ["1 granted"]), (.partial(0), []), (.reversed, ["2 granted", "1 granted"]),
    (.word(Verdict(rawValue: "splendid")), ["1 splendid", "2 splendid"]),
    (.pending(retryAfter: -1), ["1 pending -1.0", "2 pending -1.0"]),
    (.pending(retryAfter: 1e300), ["1 pending 1e+300", "2 pending 1e+300"]),
    (.order("other"), ["1 granted other", "2 granted other"]),
    (.ledgerEpoch("new"), ["1 granted", "2 granted"]),
    (.padded(bytes: 100_000), ["1 granted", "2 granted"]),
  ]

  @Test(arguments: 0..<distortions.count)
  func `an upload is committed with a distorted answer, and the next answer is correct`(index: Int)
    async throws
  {
    let (distortion, expected) = Self.distortions[index]
    let fixture = try MockServerFixture(faults: .oddReply(distortion))
    let payments = [try await fixture.pay(), try await fixture.pay()]
    let request = try fixture.upload(of: payments)
    let odd = try await fixture.send("POST", "/v1/receipts", MockServerFixture.bearer("alice"), body: request)
    #expect(odd.status == 200)
    #expect(try fixture.server.snapshot().credits.count == 2)
    let reply = try odd.decode(UploadReply.self)
    #expect(reply.verdicts.map { Self.words($0, payments) } == expected)
    #expect((reply.ledgerEpoch == "new") == (distortion == .ledgerEpoch("new")))
    if case .padded(let bytes) = distortion { #expect(odd.body.count > bytes) }
    let next = try await fixture.send(
      "POST", "/v1/receipts", MockServerFixture.bearer("alice"), body: request)
    #expect(try next.decode(UploadReply.self).verdicts.map(\.verdict) == [.duplicate, .duplicate])
  }

  private static func words(_ verdict: ClaimVerdict, _ payments: [MockServerFixture.Payment]) -> String {
    var id = verdict.transactionID
    for (index, payment) in payments.enumerated() where id.hasPrefix(payment.transactionID) {
      let rest = id.dropFirst(payment.transactionID.count)
      id = "\(index + 1)" + (rest.isEmpty ? "" : "|" + rest)
    }
    let more = [verdict.orderNumber, verdict.retryAfter.map { "\($0)" }].compactMap { $0 }
    return ([id, verdict.verdict.rawValue] + more).joined(separator: " ")
  }

  @Test func `a problem document is not distorted`() async throws {
    let fixture = try MockServerFixture(faults: .oddReply(.padded(bytes: 9)))
    let reply = try await fixture.send("POST", "/v1/receipts", MockServerFixture.bearer("alice"), json: "{")
    #expect(reply.status == 400)
    #expect(try reply.decode(ProblemDocument.self).status == 400)
  }

  @Test(arguments: [200, 403])
  func `a captive portal answers each call with its page, and nothing is committed`(status: Int) async throws
  {
    let fixture = try MockServerFixture(faults: .captivePortal(status: status))
    let payment = try await fixture.pay()
    for _ in 0..<3 {
      let reply = try await fixture.send(
        "POST", "/v1/receipts", MockServerFixture.bearer("alice"), body: try fixture.upload(of: [payment]))
      #expect(reply.status == status)
      #expect(reply.headers["content-type"]?.hasPrefix("text/html") == true)
    }
    #expect(try fixture.server.snapshot().uploads == [payment.transactionID: 3])
    #expect(try fixture.server.snapshot().credits.isEmpty)
    fixture.server.setFaults(.none)
    #expect(try await fixture.upload(payment)?.verdict == .granted)
  }

  @Test(arguments: [
    (RetryAfter.seconds(-1), "-1"), (.seconds(31_536_000), "31536000"), (.text("soon"), "soon"),
    (.date(Timestamp(milliseconds: 784_111_777_000)), "Sun, 06 Nov 1994 08:49:37 GMT"),
    (.date(Timestamp(milliseconds: 0)), "Thu, 01 Jan 1970 00:00:00 GMT"),
    (.date(Timestamp(milliseconds: -1)), "Wed, 31 Dec 1969 23:59:59 GMT"),
    (.date(Timestamp(milliseconds: 1_709_164_800_000)), "Thu, 29 Feb 2024 00:00:00 GMT"),
  ])
  func `a refusal carries Retry-After as it was planned`(retryAfter: RetryAfter, text: String) async throws {
    #expect(retryAfter.value == text)
    for status in [429, 503] {
      let fixture = try MockServerFixture(faults: .refusal(status: status, retryAfter: retryAfter))
      let payment = try await fixture.pay()
      let reply = try await fixture.send(
        "POST", "/v1/receipts", MockServerFixture.bearer("alice"), body: try fixture.upload(of: [payment]))
      #expect(reply.status == status)
      #expect(reply.headers["retry-after"] == text)
      #expect(try await fixture.upload(payment)?.verdict == .granted)
    }
  }

  @Test func `a refusal without Retry-After has no such header`() async throws {
    let fixture = try MockServerFixture(faults: .refusal(retryAfter: nil))
    let reply = try await fixture.send("POST", "/v1/receipts", MockServerFixture.bearer("alice"), json: "{}")
    #expect(reply.status == 503)
    #expect(reply.headers["retry-after"] == nil)
  }

  @Test(arguments: [302, 307])
  func `an endless redirect ends in the client, not in an answer`(status: Int) async throws {
    let fixture = try MockServerFixture(faults: .endlessRedirect(status: status))
    let payment = try await fixture.pay()
    await #expect(throws: (any Error).self) { try await fixture.upload(payment) }
    #expect(try fixture.server.snapshot().credits.isEmpty)
    #expect(try fixture.server.snapshot().requestCount > 3)
  }

  @Test func `a huge body that is no JSON`() async throws {
    let fixture = try MockServerFixture(faults: .hugeBody(bytes: 3 << 20))
    let payment = try await fixture.pay()
    let reply = try await fixture.send(
      "POST", "/v1/receipts", MockServerFixture.bearer("alice"), body: try fixture.upload(of: [payment]))
    #expect(reply.status == 200)
    #expect(reply.body.count == 3 << 20)
    #expect(try fixture.server.snapshot().credits.isEmpty)
  }

  @Test func `each upload with the poisoned transaction fails, and no other`() async throws {
    let fixture = try MockServerFixture()
    let payments = [try await fixture.pay(), try await fixture.pay()]
    fixture.server.setFaults(.poison(transactionID: payments[0].transactionID))
    for _ in 0..<3 {
      let reply = try await fixture.send(
        "POST", "/v1/receipts", MockServerFixture.bearer("alice"), body: try fixture.upload(of: payments))
      #expect(reply.status == 500)
    }
    #expect(try await fixture.upload(payments[1])?.verdict == .granted)
    let snapshot = try fixture.server.snapshot()
    #expect(snapshot.uploads == [payments[0].transactionID: 3, payments[1].transactionID: 4])
    #expect(snapshot.credits.count == 1)
  }

  @Test(arguments: [401, 403])
  func `a deleted account's credentials are refused as auth`(status: Int) async throws {
    let fixture = try MockServerFixture()
    let payment = try await fixture.pay()
    fixture.server.delete(account: "alice", status: status)
    let reply = try await fixture.send(
      "POST", "/v1/receipts", MockServerFixture.bearer("alice"), body: try fixture.upload(of: [payment]))
    #expect(reply.status == status)
    #expect(try reply.decode(ProblemDocument.self).type == ProblemDocument.auth)
    #expect(try fixture.server.snapshot().uploads == [payment.transactionID: 1])
    #expect(try await fixture.upload(payment, headers: MockServerFixture.bearer("bob"))?.verdict == .granted)
  }

  @Test func `orders have a lifetime, and can be cancelled or deferred from outside`() async throws {
    let fixture = try MockServerFixture()
    fixture.server.setOrderLifetime(.zero)
    let expired = try await fixture.order(key: "1")
    #expect(expired.state == .expired && expired.expiresAt == Sample.now)
    fixture.server.setOrderLifetime(nil)
    let order = try await fixture.order(key: "2")
    try fixture.server.move(order: order.number, to: .deferred)
    let list = try await fixture.send("GET", "/v1/orders?state=deferred", MockServerFixture.bearer("alice"))
    #expect(String(decoding: list.body, as: UTF8.self).contains("\"\(order.number)\""))
    let open = try await fixture.send("GET", "/v1/orders?state=open", MockServerFixture.bearer("alice"))
    #expect(open.status == 200)
    #expect(try open.decode(OrderListDocument.self).orders.isEmpty)
  }
}
