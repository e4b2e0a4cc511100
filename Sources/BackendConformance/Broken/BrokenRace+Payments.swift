import AppStoreReceipts
import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync
import PurchaseSyncTesting

/// Races of two requests about one payment, or about its order.
extension BrokenRace {
  typealias Ordinary = (HTTPRequest) -> HTTPResponse

  var isAboutPayment: Bool {
    switch self {
    case .periods, .members, .older, .registered, .ended, .candidate: true
    default: false
    }
  }

  /// Answers a request as this backend does; nil if the race is about other requests.
  func decide(
    _ request: HTTPRequest, _ mock: Locked<MockState>, _ now: Timestamp, _ ordinary: Ordinary
  ) -> HTTPResponse? {
    switch (self, request.method) {
    case (.registered, "PUT"): return registerApart(request, mock, ordinary)
    case (.ended, "POST") where request.path.hasPrefix("/v1/orders/"): return end(request, mock, ordinary)
    case (_, "POST") where request.path == MockState.uploadPath: break
    default: return nil
    }
    guard let upload = request.upload, upload.claims.count == 1, let claim = upload.claims.first else {
      return nil
    }
    let payload = upload.proof(of: claim).flatMap { JWSText.payload(of: $0.data) }
    switch self {
    case .periods, .members:
      return payment(of: claim, payload).flatMap { splitPayment($0, claim, request, mock, now, ordinary) }
    case .older: return creditOlder(claim, payload, request, mock, ordinary)
    case .registered:
      let token = payload?["appAccountToken"]?.string?.lowercased()
      return Self.meet(token, request, mock, ordinary)
    case .ended: return Self.meet(claim.orderNumber, request, mock, ordinary)
    case .candidate:
      let candidate = claim.match == .proposed ? claim.candidates?.first : nil
      return candidate.flatMap { payTwice($0, request, mock, ordinary) }
    default: return nil
    }
  }

  /// Lets a request about a thing meet another one before it is handled.
  private static func meet(
    _ name: String?, _ request: HTTPRequest, _ mock: Locked<MockState>, _ ordinary: Ordinary
  ) -> HTTPResponse? {
    guard let name else { return nil }
    _ = mock.withLock { enter(name, &$0) }
    defer { leave(name, mock) }
    waitForOthers(name, mock)
    return ordinary(request)
  }

  // MARK: Owners

  /// The payment of a later period, or of a subscription of a bundle.
  private func payment(of claim: Claim, _ payload: JSONValue?) -> String? {
    let bundle = payload?["bundleTransactionId"]?.string
    guard self == .periods else { return bundle }
    let original = payload?["originalTransactionId"]?.string
    return bundle == nil && original != claim.transactionID ? original : nil
  }

  /// The sender gets what another account has as well, if that came while this upload was judged.
  private func splitPayment(
    _ payment: String, _ claim: Claim, _ request: HTTPRequest, _ mock: Locked<MockState>, _ now: Timestamp,
    _ ordinary: Ordinary
  ) -> HTTPResponse? {
    let isFirst = mock.withLock { mock -> Bool in
      guard mock.brokenMemory.counts["decided " + payment] == nil else { return false }
      _ = Self.enter(payment, &mock)
      return true
    }
    guard isFirst else { return nil }
    let hasOthers = Self.waitForOthers(payment, mock)
    defer { Self.leave(payment, mock) }
    let response = ordinary(request)
    do {
      return try mock.withLock { mock -> HTTPResponse in
        mock.brokenMemory.counts["decided " + payment] = 1
        guard hasOthers, response.status == 200 else { return response }
        var reply = try JSONDecoder().decode(UploadReply.self, from: Data(response.body))
        guard reply.verdicts.first?.verdict == .otherOwner else { return response }
        let sender = try mock.credentials.sender(of: request).uploader
        try BrokenBackend.credit(again: claim.transactionID, to: sender, mock, now: now)
        (reply.verdicts[0].verdict, reply.verdicts[0].owner) = (.granted, .yours)
        return try JSONBody.response(reply)
      }
    } catch {
      return HTTPProblem(error).response
    }
  }

  // MARK: Refunds

  /// What a proof says counts for newer than a refund that comes while it is judged.
  private func creditOlder(
    _ claim: Claim, _ payload: JSONValue?, _ request: HTTPRequest, _ mock: Locked<MockState>,
    _ ordinary: Ordinary
  ) -> HTTPResponse? {
    let id = claim.transactionID
    guard let payload, payload["revocationDate"] == nil, !isRefunded(id, mock) else { return nil }
    for _ in 0..<Self.looks {
      Thread.sleep(forTimeInterval: 0.001)
      guard isRefunded(id, mock) else { continue }
      mock.withLock { $0.brokenMemory.counts[Self.meanwhile + id] = 1 }
      break
    }
    return ordinary(request)
  }

  private func isRefunded(_ id: String, _ mock: Locked<MockState>) -> Bool {
    mock.withLock { Self.model($0)?.reversals.contains { $0.transaction.transactionID == id } ?? false }
  }

  fileprivate static let meanwhile = "refunded meanwhile: "

  // MARK: Orders

  /// Another token is kept for the order if a payment with its own is uploaded at the same time.
  private func registerApart(
    _ request: HTTPRequest, _ mock: Locked<MockState>, _ ordinary: Ordinary
  ) -> HTTPResponse? {
    let call = Route.Call(request: request, parameter: "", now: Timestamp(milliseconds: 0))
    guard let body = BrokenBackend.json(of: call),
      let token = body["accountToken"]?.string?.lowercased()
    else { return nil }
    func isUploaded() -> Bool { mock.withLock { $0.brokenMemory.underWay[token] != nil } }
    for _ in 0..<Self.looks where !isUploaded() { Thread.sleep(forTimeInterval: 0.001) }
    guard isUploaded() else { return ordinary(request) }
    var other = request
    other.body = Array(ConformanceLab.with(body, "accountToken", .string(UUID().uuidString)).data)
    return ordinary(other)
  }

  /// The order is ended although it was paid in between.
  private func end(
    _ request: HTTPRequest, _ mock: Locked<MockState>, _ ordinary: Ordinary
  ) -> HTTPResponse? {
    let parts = request.path.split(separator: "/").map(String.init)
    guard parts.count == 4, ["cancel", "defer"].contains(parts[3]) else { return nil }
    let number = parts[2]
    func isPaid() -> Bool { mock.withLock { Self.model($0)?.order(number: number)?.fulfilledBy != nil } }
    guard !isPaid() else { return nil }
    _ = mock.withLock { Self.enter(number, &$0) }
    defer { Self.leave(number, mock) }
    Self.waitForOthers(number, mock)
    for _ in 0..<Self.looks where !isPaid() { Thread.sleep(forTimeInterval: 0.001) }
    do {
      try mock.withLock { mock in
        try BrokenBackend.write(mock) { model in
          guard var order = model.order(number: number), order.fulfilledBy != nil else { return [] }
          (order.state, order.fulfilledBy) = (parts[3] == "cancel" ? .cancelled : .deferred, nil)
          return [.order(order)]
        }
      }
    } catch {
      return HTTPProblem(error).response
    }
    return ordinary(request)
  }

  /// The unique index keeps the second payment out, and nothing tries again.
  private func payTwice(
    _ number: String, _ request: HTTPRequest, _ mock: Locked<MockState>, _ ordinary: Ordinary
  ) -> HTTPResponse? {
    let place = mock.withLock { Self.enter(number, &$0) }
    defer { Self.leave(number, mock) }
    let hasOthers = Self.waitForOthers(number, mock)
    guard place > 1, hasOthers else { return ordinary(request) }
    return HTTPProblem(status: 500, type: "storage", title: "The backend could not commit").response
  }
}

extension BrokenBackend {
  /// Bugs about two requests at once that concern one payment.
  static let paymentRaces: [BrokenBackend] = [
    BrokenBackend("race-periods", "two periods at once are credited without regard to each other", .periods),
    BrokenBackend(
      "race-members", "two subscriptions of a bundle at once are credited without regard to each other",
      .members),
    BrokenBackend(
      "race-older", "which statement is the newest is decided before the lock",
      hooks: BrokenHooks(
        hears: changingFacts { facts, mock, now in
          guard mock.brokenMemory.counts[BrokenRace.meanwhile + facts.transactionID] != nil else { return }
          (facts.revocationDate, facts.toldAt) = (nil, now.milliseconds + 60_000)
        }.hears, race: BrokenRace.older.answer)),
    BrokenBackend(
      "race-registered", "a registration at once with an upload of its payment loses the token",
      .registered),
    BrokenBackend("race-ended", "an order is ended although it is paid at the same time", .ended),
    BrokenBackend("race-candidate", "of two payments that propose one order at once, one fails", .candidate),
  ]
}
