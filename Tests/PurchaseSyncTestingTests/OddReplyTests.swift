import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Answers that are not ours, or not what the protocol promises. What they say is judged by the engine's tests; here,
/// that they are said, and what was committed.
struct OddReplyTests {
  /// A distortion, and the words of two claims' verdicts that are granted.
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
  func `an upload is committed and answered oddly, and the next one is not`(index: Int) async throws {
    let (distortion, expected) = Self.distortions[index]
    let world = try WorldFixture(faults: .oddReply(distortion))
    let payments = [try await world.pay(), try await world.pay()]
    let request = try world.upload(of: payments)
    let odd = try await world.send("POST", "/v1/receipts", WorldFixture.bearer("alice"), body: request)
    #expect(odd.status == 200)
    #expect(try world.server.snapshot().credits.count == 2)
    let reply = try odd.decode(UploadReply.self)
    #expect(reply.verdicts.map { Self.words($0, payments) } == expected)
    #expect((reply.ledgerEpoch == "new") == (distortion == .ledgerEpoch("new")))
    if case .padded(let bytes) = distortion { #expect(odd.body.count > bytes) }
    let next = try await world.send("POST", "/v1/receipts", WorldFixture.bearer("alice"), body: request)
    #expect(try next.decode(UploadReply.self).verdicts.map(\.verdict) == [.duplicate, .duplicate])
  }

  private static func words(_ verdict: ClaimVerdict, _ payments: [WorldFixture.Payment]) -> String {
    var id = verdict.transactionID
    for (index, payment) in payments.enumerated() where id.hasPrefix(payment.transactionID) {
      let rest = id.dropFirst(payment.transactionID.count)
      id = "\(index + 1)" + (rest.isEmpty ? "" : "|" + rest)
    }
    let more = [verdict.orderNumber, verdict.retryAfter.map { "\($0)" }].compactMap { $0 }
    return ([id, verdict.verdict.rawValue] + more).joined(separator: " ")
  }

  @Test func `a problem document is not distorted`() async throws {
    let world = try WorldFixture(faults: .oddReply(.padded(bytes: 9)))
    let reply = try await world.send("POST", "/v1/receipts", WorldFixture.bearer("alice"), json: "{")
    #expect(reply.status == 400)
    #expect(try reply.decode(ProblemDocument.self).status == 400)
  }

  @Test(arguments: [200, 403])
  func `a captive portal answers every call with its page, and commits nothing`(status: Int) async throws {
    let world = try WorldFixture(faults: .captivePortal(status: status))
    let payment = try await world.pay()
    for _ in 0..<3 {
      let reply = try await world.send(
        "POST", "/v1/receipts", WorldFixture.bearer("alice"), body: try world.upload(of: [payment]))
      #expect(reply.status == status)
      #expect(reply.headers["content-type"]?.hasPrefix("text/html") == true)
    }
    #expect(try world.server.snapshot().uploads == [payment.transactionID: 3])
    #expect(try world.server.snapshot().credits.isEmpty)
    world.server.setFaults(.none)
    #expect(try await world.upload(payment)?.verdict == .granted)
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
      let world = try WorldFixture(faults: .refusal(status: status, retryAfter: retryAfter))
      let payment = try await world.pay()
      let reply = try await world.send(
        "POST", "/v1/receipts", WorldFixture.bearer("alice"), body: try world.upload(of: [payment]))
      #expect(reply.status == status)
      #expect(reply.headers["retry-after"] == text)
      #expect(try await world.upload(payment)?.verdict == .granted)
    }
  }

  @Test func `a refusal without Retry-After has none`() async throws {
    let world = try WorldFixture(faults: .refusal(retryAfter: nil))
    let reply = try await world.send("POST", "/v1/receipts", WorldFixture.bearer("alice"), json: "{}")
    #expect(reply.status == 503)
    #expect(reply.headers["retry-after"] == nil)
  }

  @Test(arguments: [302, 307])
  func `an endless redirect ends in the client, not in an answer`(status: Int) async throws {
    let world = try WorldFixture(faults: .endlessRedirect(status: status))
    let payment = try await world.pay()
    await #expect(throws: (any Error).self) { try await world.upload(payment) }
    #expect(try world.server.snapshot().credits.isEmpty)
    #expect(try world.server.snapshot().requestCount > 3)
  }

  @Test func `a huge body that is no JSON`() async throws {
    let world = try WorldFixture(faults: .hugeBody(bytes: 3 << 20))
    let payment = try await world.pay()
    let reply = try await world.send(
      "POST", "/v1/receipts", WorldFixture.bearer("alice"), body: try world.upload(of: [payment]))
    #expect(reply.status == 200)
    #expect(reply.body.count == 3 << 20)
    #expect(try world.server.snapshot().credits.isEmpty)
  }

  @Test func `poison fails every upload that it is in, and no other`() async throws {
    let world = try WorldFixture()
    let payments = [try await world.pay(), try await world.pay()]
    world.server.setFaults(.poison(transactionID: payments[0].transactionID))
    for _ in 0..<3 {
      let reply = try await world.send(
        "POST", "/v1/receipts", WorldFixture.bearer("alice"), body: try world.upload(of: payments))
      #expect(reply.status == 500)
    }
    #expect(try await world.upload(payments[1])?.verdict == .granted)
    let snapshot = try world.server.snapshot()
    #expect(snapshot.uploads == [payments[0].transactionID: 3, payments[1].transactionID: 4])
    #expect(snapshot.credits.count == 1)
  }

  @Test(arguments: [401, 403])
  func `a deleted account's credentials are refused as auth`(status: Int) async throws {
    let world = try WorldFixture()
    let payment = try await world.pay()
    world.server.delete(account: "alice", status: status)
    let reply = try await world.send(
      "POST", "/v1/receipts", WorldFixture.bearer("alice"), body: try world.upload(of: [payment]))
    #expect(reply.status == status)
    #expect(try reply.decode(ProblemDocument.self).type == ProblemDocument.auth)
    #expect(try world.server.snapshot().uploads == [payment.transactionID: 1])
    #expect(try await world.upload(payment, headers: WorldFixture.bearer("bob"))?.verdict == .granted)
  }

  @Test func `orders have a lifetime, and can be cancelled or deferred from outside`() async throws {
    let world = try WorldFixture()
    world.server.setOrderLifetime(milliseconds: 0)
    let expired = try await world.order(key: "1")
    #expect(expired.state == .expired && expired.expiresAt == Sample.now)
    world.server.setOrderLifetime(milliseconds: nil)
    let order = try await world.order(key: "2")
    try world.server.move(order: order.number, to: .deferred)
    let list = try await world.send("GET", "/v1/orders?state=deferred", WorldFixture.bearer("alice"))
    #expect(String(decoding: list.body, as: UTF8.self).contains("\"\(order.number)\""))
    let open = try await world.send("GET", "/v1/orders?state=open", WorldFixture.bearer("alice"))
    #expect(!String(decoding: open.body, as: UTF8.self).contains("number"))
  }
}
