import AppStoreDocuments
import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSync
import TestSupport
import Testing

@testable import PurchaseSyncTesting

/// Notifications: accepted or refused, with the same result in any order.
struct BackendNotificationTests {
  private static let month = 30 * Sample.day
  private static let forge = NotificationForge(receipts: Sample.forge)

  private static func later(_ milliseconds: Int64) -> Timestamp {
    Sample.now.adding(milliseconds: milliseconds)
  }

  private static func period(
    _ index: Int64, product: String = "monthly", token: UUID? = nil, revokedAt: Int64? = nil,
    isUpgraded: Bool = false
  ) -> StoreTransactionRecord {
    let began = later(index * month)
    var record = Sample.record(
      "\(index + 1)", original: "1", product: product, token: token,
      expiresAt: began.adding(milliseconds: month), purchasedAt: began, revokedAt: revokedAt.map(later))
    record.isUpgraded = isUpgraded
    return record
  }

  private static func renewal(_ willAutoRenew: Bool, isRetrying: Bool? = nil) -> ForgedRenewal {
    var renewal = ForgedRenewal(of: period(0), willAutoRenew: willAutoRenew)
    renewal.isInBillingRetry = isRetrying
    return renewal
  }

  private static func body(
    _ kind: ServerNotificationV2.Kind, _ subtype: ServerNotificationV2.Subtype? = nil,
    _ transaction: StoreTransactionRecord, _ renewal: ForgedRenewal? = nil, at moment: Int64
  ) -> JSONValue {
    forge.version2(
      kind, subtype, id: "\(kind.rawValue)-\(moment)", about: transaction, renewal: renewal,
      signedAt: later(moment))
  }

  /// The notifications of one subscription: bought, renewed, renewal turned off and on, a failed charge, a recovery,
  /// refunds of an earlier period and of the last one, and the latter refund undone.
  private static let lives: [[JSONValue]] = [
    [
      body(.subscribed, .initialBuy, period(0), renewal(true), at: 1),
      body(.didRenew, nil, period(1), renewal(true), at: month),
      body(.didChangeRenewalStatus, .autoRenewDisabled, period(1), renewal(false), at: month + 2),
      body(.refund, nil, period(1, revokedAt: month + 5), at: month + 6),
      body(.refundReversed, nil, period(1), at: month + 8),
      body(.didRenew, nil, period(2), renewal(true), at: 2 * month),
    ],
    [
      body(.subscribed, .initialBuy, period(0), renewal(true), at: 1),
      body(.didFailToRenew, .gracePeriod, period(0), renewal(true, isRetrying: true), at: month),
      body(.didRenew, .billingRecovery, period(1), renewal(true), at: month + 9),
      body(.refund, nil, period(1, revokedAt: month + 20), at: month + 21),
      body(.didChangeRenewalPreference, .upgrade, period(2, product: "yearly"), renewal(true), at: 2 * month),
      body(.refund, nil, period(2, product: "yearly", revokedAt: 2 * month + 3), at: 2 * month + 4),
    ],
  ]

  /// The backend's state without the moments at which it learned of each event.
  private struct EndState: Hashable {
    var purchases: Set<Purchase>
    var renewals: [ChainKey: ChainRenewal]
    var reversals: Set<Reversal>
    var credits: Set<TransactionKey>
    var entitled: [[Entitlement]]

    init(_ model: BackendModel) {
      purchases = Set(
        model.purchases.map {
          var row = $0
          row.createdAt = Sample.now
          row.updatedAt = Sample.now
          return row
        })
      renewals = model.renewals
      reversals = Set(model.reversals.filter { $0.undoneAt == nil })
      credits = Set(model.credits.map(\.transaction).filter { !model.isReversed($0) })
      entitled = (0..<40).map { step in
        model.holdings(account: "alice", now: later(Int64(step) * month / 10 + 1))
      }
    }
  }

  private struct Story {
    var backend = BackendFixture()
    let record = period(0)

    mutating func hear(_ body: JSONValue, at now: Timestamp) throws {
      let notice = try StoreNotice(
        json: body.data, bundleID: Sample.bundleID, isSigned: Sample.forge.verify, now: now)
      _ = backend.model.learn(notice.lessons, source: .notification(notice.type), now: now)
    }

    mutating func upload(at now: Timestamp) throws {
      let signed = try SignedTransaction(jws: Sample.forge.signedTransaction(record, signedAt: later(1)))
      let proof = ProofDocument(kind: .signedTransaction, data: "jws")
      let request = UploadRequest(
        device: UUID(uuidString: "00000000-0000-4000-8000-000000000001") ?? UUID(), proof: proof,
        claims: [Sample.claim(for: record)])
      _ = backend.model.judge(request, from: .account("alice"), now: now) { _ in .genuine([signed]) }
    }
  }

  private static func permutations(_ count: Int) -> [[Int]] {
    guard count > 0 else { return [[]] }
    return permutations(count - 1).flatMap { shorter in
      (0...shorter.count).map { place in
        var longer = shorter
        longer.insert(count - 1, at: place)
        return longer
      }
    }
  }

  @Test(arguments: [0, 1])
  func
    `a life's notifications, in any order, some of them twice, and the upload anywhere among them, end alike`(
      life: Int
    ) throws
  {
    let events = Self.lives[life]
    var random = SplitMix64(seed: UInt64(life) + 5)
    var end: EndState?
    for order in LongTests.some(Self.permutations(events.count), every: 16) {
      var story = Story()
      var steps: [Int?] = order.map { $0 }
      steps.insert(order.randomElement(using: &random), at: Int.random(in: 0...order.count, using: &random))
      steps.insert(nil, at: Int.random(in: 0...steps.count, using: &random))
      for (offset, step) in steps.enumerated() {
        let now = Self.later(Int64(offset))
        if let step { try story.hear(events[step], at: now) } else { try story.upload(at: now) }
      }
      #expect(story.backend.model.doubledCredits == 0)
      let state = EndState(story.backend.model)
      if let end, state != end {
        Issue.record("the order \(steps.map { $0 ?? -1 }) ends otherwise")
        return
      }
      end = state
    }
    let state = try #require(end)
    #expect(state.credits.count == (life == 0 ? 3 : 1))
    #expect(state.purchases.allSatisfy { $0.account == "alice" })
  }

  @Test func `a notification of an unknown type counts by its transaction`() throws {
    var story = Story()
    try story.upload(at: Sample.now)
    try story.hear(
      Self.body(ServerNotificationV2.Kind(rawValue: "NEWS"), nil, Self.period(0, revokedAt: 4), at: 5),
      at: Self.later(6))
    #expect(story.backend.model.entitlements(account: "alice", now: Self.later(6)).isEmpty)
  }

  @Test(
    arguments: [(.refund, .seats), (.refund, nil), (.revoke, nil)]
      as [(ServerNotificationV2.Kind, ServerNotificationV2.Subtype?)])
  func `only a signed date of revocation takes a purchase back, not the word of the notification`(
    kind: ServerNotificationV2.Kind, subtype: ServerNotificationV2.Subtype?
  ) throws {
    var story = Story()
    try story.upload(at: Sample.now)
    try story.hear(Self.body(kind, subtype, Self.period(0), at: 5), at: Self.later(6))
    #expect(story.backend.model.reversals.isEmpty)
    #expect(story.backend.model.entitlements(account: "alice", now: Self.later(7)) == ["monthly": 1])
    try story.hear(Self.body(kind, nil, Self.period(0, revokedAt: 8), at: 9), at: Self.later(10))
    #expect(story.backend.model.entitlements(account: "alice", now: Self.later(11)).isEmpty)
  }

  @Test func `another app's, an altered and an unreadable notification are refused`() throws {
    let other = NotificationForge(receipts: ReceiptForge(bundleID: "com.example.other"))
    let foreign = other.version2(.refund, id: "1", about: Self.period(0), signedAt: Sample.now)
    let stranger = NotificationForge(receipts: ReceiptForge(bundleID: Sample.bundleID, key: 1))
    let forged = stranger.version2(.refund, id: "1", about: Self.period(0), signedAt: Sample.now)
    let empty = Self.forge.version2(.refund, id: "1", about: nil, signedAt: Sample.now)
    for body in [foreign, forged, empty] {
      #expect(throws: StoreNotice.Refusal.self) {
        try StoreNotice(
          json: body.data, bundleID: Sample.bundleID, isSigned: Sample.forge.verify, now: Sample.now)
      }
    }
    for text in ["", "[]", "{}", #"{"signedPayload":7}"#, #"{"signedPayload":"a.b.c"}"#] {
      #expect(throws: StoreNotice.Refusal.self) {
        try StoreNotice(
          json: Data(text.utf8), bundleID: Sample.bundleID, isSigned: { _ in true }, now: Sample.now)
      }
    }
    let test = Self.forge.version2(.test, id: "1", about: nil, signedAt: Sample.now)
    let notice = try StoreNotice(
      json: test.data, bundleID: Sample.bundleID, isSigned: Sample.forge.verify, now: Sample.now)
    #expect(notice.lessons.isEmpty && notice.queries.isEmpty)
  }

  @Test(arguments: [
    ServerNotificationV1.Kind.initialBuy, .cancel, .didChangeRenewalPreference, .didChangeRenewalStatus,
    .didFailToRenew, .didRecover, .didRenew, .interactiveRenewal, .refund, .revoke,
  ])
  func `version 1 of each type changes nothing by itself, but the backend asks about each transaction in it`(
    kind: ServerNotificationV1.Kind
  ) throws {
    let unified = VerifyReceiptForge(bundleID: Sample.bundleID).unified(
      held: [], latest: [Self.period(0), Self.period(1), Self.period(1)],
      renewals: [Self.renewal(true)], newReceipt: "MIAA", requestedAt: Sample.now)
    let body = Self.forge.version1(kind, unifiedReceipt: unified)
    let notice = try StoreNotice(
      json: body.data, bundleID: Sample.bundleID, isSigned: { _ in true }, now: Sample.now)
    #expect(notice.type == kind.rawValue && notice.lessons.isEmpty)
    #expect(
      notice.queries == [
        .proof(ProofDocument(kind: .appReceipt, data: "MIAA")),
        .transaction(environment: "Production", id: "1"), .transaction(environment: "Production", id: "2"),
      ])
  }

  @Test func `absurdly many transactions in one notification are refused`() {
    let items = JSONValue.array(
      Array(repeating: ["transaction_id": "1"], count: StoreNotice.maximumItems + 1))
    let body: JSONValue = [
      "notification_type": "DID_RENEW", "unified_receipt": ["latest_receipt_info": items],
    ]
    #expect(throws: StoreNotice.Refusal.self) {
      try StoreNotice(json: body.data, bundleID: "", isSigned: { _ in true }, now: Sample.now)
    }
  }
}
