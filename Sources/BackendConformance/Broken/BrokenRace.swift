import AppStoreReceipts
import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync
import PurchaseSyncTesting

/// A part of a request that is no single step: other requests come in between.
enum BrokenRace: Sendable {
  /// Looks whether a transaction is credited, and credits it a while later.
  case grant
  /// Looks whether an idempotency key is known, and makes the order a while later.
  case order
  /// Tells a duplicate while the first upload of the transaction is not committed, and may fail.
  case duplicate
  /// As `grant`, of a transaction that a notification named before.
  case noted
  /// As `grant`, of two proofs of one transaction: only equal proofs wait for each other.
  case proofs
  /// As `grant`, of a renewal whose notification comes at the same time.
  case renewal
  /// Two notifications of one refund at once each take a purchase.
  case refund
  /// Two registrations of one order at once are both the first.
  case registration
  /// Locks the claims of an upload in its order, each for the whole upload.
  case opposite
  /// Looks whether an account has adopted the device of an upload, and credits a while later.
  case adoption
  /// Decides about each period of a subscription without the others, or about each subscription of a bundle.
  case periods, members
  /// Looks whether a purchase is refunded, and credits it a while later.
  case older
  /// Looks whose an account token is, and credits a while later; a registration does not look for such a credit.
  case registered
  /// Looks whether an order is paid, and ends it a while later.
  case ended
  /// Looks whether a proposed order is paid, and pays it a while later.
  case candidate

  /// How often a request looks for another one about the same thing before it goes on, each time after a millisecond.
  static let looks = 20

  /// Answers a request as this backend does; nil if the race is about other requests. Blocks the thread for a while.
  func answer(
    _ request: HTTPRequest, _ mock: Locked<MockState>, _ now: Timestamp,
    _ ordinary: (HTTPRequest) -> HTTPResponse
  ) -> HTTPResponse? {
    if isAboutPayment { return decide(request, mock, now, ordinary) }
    if self == .registration, request.method == "PUT" { return register(request, mock, ordinary) }
    guard request.method == "POST" else { return nil }
    switch (self, request.path) {
    case (.order, "/v1/orders"): return makeOrder(request, mock, ordinary)
    case (.grant, MockState.uploadPath), (.noted, MockState.uploadPath), (.proofs, MockState.uploadPath),
      (.renewal, MockState.uploadPath):
      return request.upload.flatMap { credit($0, request, mock, now, ordinary) }
    case (.opposite, MockState.uploadPath):
      return request.upload.flatMap { block($0, request, mock, ordinary) }
    case (.adoption, MockState.uploadPath):
      return request.upload.flatMap { missAdoption($0, request, mock, ordinary) }
    case (.refund, MockState.notificationPath): return takeBack(request, mock, now, ordinary)
    case (.renewal, MockState.notificationPath): return noteRenewal(request, mock, now, ordinary)
    case (.duplicate, MockState.uploadPath):
      return request.upload.flatMap {
        tellDuplicate($0, request, mock, ordinary)
      }
    default: return nil
    }
  }

  private func makeOrder(
    _ request: HTTPRequest, _ mock: Locked<MockState>, _ ordinary: (HTTPRequest) -> HTTPResponse
  ) -> HTTPResponse {
    let key = request.headers["Idempotency-Key"] ?? ""
    let place = mock.withLock { mock -> Int in
      let isKnown = Self.model(mock)?.orders.contains { $0.idempotencyKey == key } ?? false
      return key.isEmpty || isKnown ? 0 : Self.enter(key, &mock)
    }
    guard place > 0 else { return ordinary(request) }
    Self.waitForOthers(key, mock)
    defer { Self.leave(key, mock) }
    var request = request
    // No unique index keeps the second one out.
    if place > 1 {
      request.headers["Idempotency-Key"] = key + mock.withLock { " \($0.brokenMemory.next())" }
    }
    return ordinary(request)
  }

  private func credit(
    _ upload: UploadRequest, _ request: HTTPRequest, _ mock: Locked<MockState>, _ now: Timestamp,
    _ ordinary: (HTTPRequest) -> HTTPResponse
  ) -> HTTPResponse? {
    guard let first = upload.claims.first?.transactionID else { return nil }
    let text = upload.proofs.first?.data ?? ""
    let before = mock.withLock { mock -> Set<String>? in
      let credited = Self.credited(mock)
      guard !credited.contains(first), isRaced(first, text, mock) else { return nil }
      // Two equal proofs are judged one after the other.
      if self == .proofs, Self.enter(first + text, &mock) > 1 { return nil }
      _ = Self.enter(first, &mock)
      return credited
    }
    guard let before else { return ordinary(request) }
    let hasOthers = Self.waitForOthers(first, mock)
    defer { Self.leave(first, mock) }
    let response = ordinary(request)
    guard response.status == 200, hasOthers || self != .proofs else { return response }
    do {
      var reply = try JSONDecoder().decode(UploadReply.self, from: Data(response.body))
      for index in reply.verdicts.indices where reply.verdicts[index].verdict == .duplicate {
        let id = reply.verdicts[index].transactionID
        guard !before.contains(id) else { continue }
        try mock.withLock { mock in
          try BrokenBackend.credit(again: id, mock, now: now.adding(milliseconds: mock.clockShift))
        }
        reply.verdicts[index].verdict = .granted
      }
      return try JSONBody.response(reply)
    } catch {
      return HTTPProblem(error).response
    }
  }

  /// Whether this race is about such a transaction.
  private func isRaced(_ id: String, _ proof: String, _ mock: MockState) -> Bool {
    switch self {
    case .noted: Self.model(mock)?.purchases.contains { $0.facts.transactionID == id } ?? false
    case .renewal:
      JWSText.payload(of: proof).map { $0["originalTransactionId"] != $0["transactionId"] } ?? false
    default: true
    }
  }

  private func takeBack(
    _ request: HTTPRequest, _ mock: Locked<MockState>, _ now: Timestamp,
    _ ordinary: (HTTPRequest) -> HTTPResponse
  ) -> HTTPResponse? {
    let call = Route.Call(request: request, parameter: "", now: now)
    do {
      let id = try mock.withLock { mock -> String? in
        guard let notice = try BrokenBackend.notice(in: call, mock), notice.type.hasPrefix("REFUND") else {
          return nil
        }
        let told = BrokenBackend.told(by: notice).first?.transactionID ?? ""
        let isKnown = Self.model(mock)?.reversals.contains { $0.transaction.transactionID == told } ?? false
        if !isKnown { _ = Self.enter(told, &mock) }
        return isKnown ? nil : told
      }
      guard let id else { return nil }
      let hasOthers = Self.waitForOthers(id, mock)
      defer { Self.leave(id, mock) }
      let response = ordinary(request)
      if hasOthers { try mock.withLock { try BrokenBackend.takeNext(after: id, $0, now: now) } }
      return response
    } catch {
      return nil  // What the backend refuses is no race.
    }
  }

  /// Waits a while for an upload of the same renewal before it credits it.
  private func noteRenewal(
    _ request: HTTPRequest, _ mock: Locked<MockState>, _ now: Timestamp,
    _ ordinary: (HTTPRequest) -> HTTPResponse
  ) -> HTTPResponse? {
    let call = Route.Call(request: request, parameter: "", now: now)
    do {
      let id = try mock.withLock { mock -> String? in
        let notice = try BrokenBackend.notice(in: call, mock)
        guard let told = notice.map(BrokenBackend.told)?.first,
          !Self.credited(mock).contains(told.transactionID)
        else { return nil }
        _ = Self.enter(told.transactionID, &mock)
        return told.transactionID
      }
      guard let id else { return nil }
      Self.waitForOthers(id, mock)
      defer { Self.leave(id, mock) }
      return ordinary(request)
    } catch {
      return nil  // What the backend refuses is no race.
    }
  }

  private func register(
    _ request: HTTPRequest, _ mock: Locked<MockState>, _ ordinary: (HTTPRequest) -> HTTPResponse
  ) -> HTTPResponse? {
    let number = String(request.path.split(separator: "/").last ?? "")
    let isNew = mock.withLock { mock -> Bool in
      guard Self.model(mock)?.order(number: number) == nil else { return false }
      _ = Self.enter(number, &mock)
      return true
    }
    guard isNew else { return nil }
    Self.waitForOthers(number, mock)
    defer { Self.leave(number, mock) }
    var response = ordinary(request)
    if response.status == 200 { response.status = 201 }
    return response
  }

  private func tellDuplicate(
    _ upload: UploadRequest, _ request: HTTPRequest, _ mock: Locked<MockState>,
    _ ordinary: (HTTPRequest) -> HTTPResponse
  ) -> HTTPResponse? {
    guard upload.claims.count == 1, let id = upload.claims.first?.transactionID else { return nil }
    let place = mock.withLock { mock -> Int in
      let isOther = Self.credited(mock).contains(id) || !Self.isOwners(upload.claims[0], request, mock)
      return isOther ? 0 : Self.enter(id, &mock)
    }
    guard place > 0 else { return ordinary(request) }
    guard place == 1 else {
      do {
        return try mock.withLock { try BrokenBackend.all(.duplicate, of: upload, $0) }
      } catch {
        return HTTPProblem(error).response
      }
    }
    let hasOthers = Self.waitForOthers(id, mock)
    defer { mock.withLock { $0.brokenMemory.underWay[id] = nil } }
    guard hasOthers else { return ordinary(request) }
    return HTTPProblem(status: 500, type: "storage", title: "The backend could not commit").response
  }

  /// Of two uploads with several claims of the same transactions the second one ends without an answer.
  private func block(
    _ upload: UploadRequest, _ request: HTTPRequest, _ mock: Locked<MockState>,
    _ ordinary: (HTTPRequest) -> HTTPResponse
  ) -> HTTPResponse? {
    guard upload.claims.count > 1, let id = upload.claims.map(\.transactionID).min() else { return nil }
    let place = mock.withLock { Self.enter(id, &$0) }
    defer { Self.leave(id, mock) }
    let hasOthers = Self.waitForOthers(id, mock)
    guard place > 1, hasOthers else { return ordinary(request) }
    return HTTPProblem(status: 500, type: "storage", title: "The backend could not commit").response
  }

  /// What an upload credits that has begun before an adoption counts as paid after it.
  private func missAdoption(
    _ upload: UploadRequest, _ request: HTTPRequest, _ mock: Locked<MockState>,
    _ ordinary: (HTTPRequest) -> HTTPResponse
  ) -> HTTPResponse? {
    func adoptions() -> Int {
      mock.withLock { Self.model($0)?.deviceAdoptions.count { $0.device == upload.device } ?? 0 }
    }
    guard request.headers["Authorization"]?.lowercased().hasPrefix("device") == true else { return nil }
    let before = adoptions()
    for _ in 0..<Self.looks {
      Thread.sleep(forTimeInterval: 0.001)
      guard adoptions() != before else { continue }
      mock.withLock { mock in
        for claim in upload.claims { mock.brokenMemory.counts[Self.missed + claim.transactionID] = 1 }
      }
      break
    }
    return ordinary(request)
  }

  fileprivate static let missed = "paid after an adoption: "

  // MARK: The requests that are under way

  /// Counts a request about a thing. The first one is 1.
  static func enter(_ name: String, _ mock: inout MockState) -> Int {
    mock.brokenMemory.underWay[name, default: 0] += 1
    return mock.brokenMemory.underWay[name] ?? 0
  }

  static func leave(_ name: String, _ mock: Locked<MockState>) {
    mock.withLock { mock in
      let others = (mock.brokenMemory.underWay[name] ?? 1) - 1
      mock.brokenMemory.underWay[name] = others > 0 ? others : nil
    }
  }

  /// Waits a while for a second request about the same thing. Returns whether one came.
  @discardableResult
  static func waitForOthers(_ name: String, _ mock: Locked<MockState>) -> Bool {
    for _ in 0..<looks {
      if mock.withLock({ $0.brokenMemory.underWay[name] ?? 0 }) > 1 { return true }
      Thread.sleep(forTimeInterval: 0.001)
    }
    return false
  }

  /// Whether the sender has made the order of a claim.
  private static func isOwners(_ claim: Claim, _ request: HTTPRequest, _ mock: MockState) -> Bool {
    do {
      let account = try mock.credentials.account(of: request)
      return claim.orderNumber.flatMap { Self.model(mock)?.order(number: $0) }?.account == account
    } catch {
      return false
    }
  }

  static func model(_ mock: MockState) -> BackendModel? {
    do throws(BackendStoreError) { return try mock.backend.model() } catch { return nil }
  }

  static func credited(_ mock: MockState) -> Set<String> {
    Set(model(mock)?.credits.map(\.transaction.transactionID) ?? [])
  }
}

extension BrokenBackend {
  /// Bugs that only simultaneous requests show.
  static let races: [BrokenBackend] = [
    BrokenBackend("race-grant", "two uploads at once are both granted", .grant),
    BrokenBackend("race-order", "two orders at once with one key are both made", .order),
    BrokenBackend("race-duplicate", "a duplicate is told before the grant is committed", .duplicate),
    BrokenBackend(
      "race-noted", "two uploads at once are both granted if a notification told of the purchase before",
      .noted),
    BrokenBackend("race-proofs", "two uploads at once with different proofs are both granted", .proofs),
    BrokenBackend(
      "race-renewal", "an upload of a renewal is granted while its notification is credited", .renewal),
    BrokenBackend("race-refund", "two notifications of a refund at once both take a purchase", .refund),
    BrokenBackend("race-registration", "two registrations at once are both the first", .registration),
    BrokenBackend(
      "race-adoption", "an adoption does not see what an upload of its device credits at the same time",
      hooks: BrokenHooks(
        hears: { answer, _, _, mock, now in
          guard var report = answer.report else { return }
          for index in report.transactions.indices
          where mock.brokenMemory.counts[BrokenRace.missed + report.transactions[index].transactionID] != nil
          {
            report.transactions[index].purchaseDate = now.milliseconds + 60_000
          }
          answer.outcome = .genuine(report)
        }, race: BrokenRace.adoption.answer)),
  ]

  init(_ name: String, _ summary: String, _ race: BrokenRace) {
    self.init(name, summary, hooks: BrokenHooks(race: race.answer))
  }
}
