import AppStoreDocuments
import AppStoreReceipts
import Foundation
import Testing

/// Subscriptions that are bought for several people.
@Suite struct SeatTests {
  private static func transaction(_ id: String, _ fields: String) throws -> SignedTransaction {
    try SignedTransaction(
      jws: jws(
        payload:
          #"{"transactionId":"\#(id)","originalTransactionId":"1","productId":"p","purchaseDate":10,"expiresDate":110,"#
          + #""type":"Auto-Renewable Subscription",\#(fields)}"#))
  }

  @Test func `the seats of a transaction, their prices and who invites are read`() throws {
    let signed = try Self.transaction(
      "1",
      """
      "quantity":8,"additionalTransactionReason":"SEAT_ADDITION","multiSeatInfo":{"invitationManagement":"DEVELOPER",
      "priceTiers":[{"price":9990,"quantity":5},{"price":7990,"quantity":3,"y":1}],"revokedSeatQuantity":2,"x":1}
      """)
    let info = try #require(signed.multiSeatInfo)
    #expect(info.invitations == .developer)
    #expect(info.priceTiers.map(\.price) == [9_990, 7_990])
    #expect(info.priceTiers.map(\.seats) == [5, 3])
    #expect(info.priceTiers.last?.unknownFields == ["y": 1])
    #expect(info.revokedSeats == 2)
    #expect(info.unknownFields == ["x": 1])
    #expect(signed.additionalReason == .seatAddition)
    #expect(signed.seats == 6)
    #expect(signed.unknownFields.isEmpty)
  }

  @Test(arguments: [
    (#""quantity":5"#, 5), (#""x":1"#, 1), (#""quantity":5,"multiSeatInfo":{"revokedSeatQuantity":5}"#, 0),
    (#""quantity":5,"multiSeatInfo":{"revokedSeatQuantity":7}"#, 0),
    (#""quantity":5,"inAppOwnershipType":"ASSIGNED""#, 1),
    (#""quantity":5,"inAppOwnershipType":"ASSIGNED","multiSeatInfo":{"revokedSeatQuantity":5}"#, 1),
    (#""quantity":0,"inAppOwnershipType":"ASSIGNED""#, 0), (#""quantity":5,"multiSeatInfo":"later""#, 5),
  ])
  func `a transaction gives its seats without the refunded ones, and a member one`(
    fields: String, seats: Int
  ) throws {
    #expect(try Self.transaction("1", fields).seats == seats)
  }

  @Test func `a negative number of refunded seats is none of the store's`() {
    let failure = decodingFailure {
      _ = try Self.transaction("1", #""multiSeatInfo":{"revokedSeatQuantity":-1}"#)
    }
    #expect(failure != nil)
  }

  @Test func `the renewal says how many seats there will be`() throws {
    let renewal = try SignedRenewalInfo(
      jws: jws(
        payload: #"{"autoRenewProductId":"p","renewalQuantity":3,"#
          + #""multiSeatInfo":{"renewalPriceTiers":[{"price":9990,"quantity":3}]}}"#))
    #expect(renewal.renewalSeats == 3)
    #expect(renewal.renewalPriceTiers.map(\.seats) == [3])
    #expect(renewal.unknownFields.isEmpty)
  }

  @Test func `a notification names the claims of the seats that the store took back`() throws {
    let notification = try ServerNotificationV2(
      jws: jws(
        payload: #"{"notificationType":"UNCLAIM_SEATS","notificationUUID":"u","unclaimInfo":"#
          + #"{"appAppleId":1,"bundleId":"b","environment":"Sandbox","unclaimSeatIds":["A","B"],"x":1}}"#))
    #expect(notification.kind == .unclaimSeats)
    #expect(notification.unclaimInfo?.seatClaimIDs == ["A", "B"])
    #expect(notification.unclaimInfo?.unknownFields == ["x": 1])
    #expect(notification.bundleID == "b")
    #expect(notification.environment == .sandbox)
    #expect(notification.unknownFields.isEmpty)
  }

  // MARK: The seats of a period

  /// One transaction of the purchaser: 5 seats from the beginning, or 3 that were added.
  private static let first = #""quantity":5,"additionalTransactionReason":"SEAT_ADDITION""#
  private static let added = #""quantity":3,"additionalTransactionReason":"SEAT_ADDITION","purchaseDate":40"#

  private static func status(_ first: String, _ added: String, at now: Int64) throws -> SubscriptionStatus {
    let payload =
      #"{"transactionId":"2","originalTransactionId":"1","productId":"p","expiresDate":110,"inAppOwnershipType":"PURCHASED","#
    let addition = try SignedTransaction(jws: jws(payload: payload + added + "}"))
    let facts = SubscriptionFacts(transactions: [addition, try transaction("1", first)])
    return try #require(SubscriptionStatus.all(in: facts, at: now).first)
  }

  @Test(arguments: [(20, 5), (40, 8), (109, 8), (110, 8)] as [(Int64, Int)])
  func `added seats count together with the first ones, from then on`(now: Int64, seats: Int) throws {
    let status = try Self.status(Self.first, Self.added, at: now)
    #expect(status.seats == seats)
    #expect(status.isEntitled == (now < 110))
    #expect(status.transactionID == "1")
    #expect(status.endedAt == (now < 110 ? nil : 110))
  }

  @Test func `a statement from before the addition counts as one of the period`() throws {
    #expect(try Self.status(#""quantity":5"#, Self.added, at: 50).seats == 8)
  }

  @Test func `the same payment under two ids has its seats once`() throws {
    let again = #""quantity":5,"purchaseDate":10"#
    #expect(try Self.status(#""quantity":5"#, again, at: 50).seats == 5)
  }

  @Test(arguments: [
    (#","revocationDate":60"#, "", 3, true), ("", #","revocationDate":60"#, 5, true),
    (#","revocationDate":60"#, #","revocationDate":70"#, 0, false),
    (#","multiSeatInfo":{"revokedSeatQuantity":2}"#, "", 6, true),
    (#","multiSeatInfo":{"revokedSeatQuantity":5}"#, #","multiSeatInfo":{"revokedSeatQuantity":3}"#, 0, true),
  ])
  func `access ends only when every transaction of the period is refunded`(
    first: String, added: String, seats: Int, isEntitled: Bool
  ) throws {
    let status = try Self.status(Self.first + first, Self.added + added, at: 80)
    #expect(status.seats == seats)
    #expect(status.isEntitled == isEntitled)
    #expect(status.endedAt == (isEntitled ? nil : 70))
  }

  @Test func `a subscription lapses after a refund of added seats, and is not refunded`() throws {
    let status = try Self.status(Self.first, Self.added + #","revocationDate":60"#, at: 200)
    #expect(status.state == .lapsed(nil))
    #expect(status.endedAt == 110)
  }

  @Test func `a member's seat is none of the purchaser's`() throws {
    let member = Self.added + #","inAppOwnershipType":"ASSIGNED""#
    let payload =
      #"{"transactionId":"2","originalTransactionId":"1","productId":"p","expiresDate":110,\#(member)}"#
    let facts = SubscriptionFacts(transactions: [
      try Self.transaction("1", Self.first), try SignedTransaction(jws: jws(payload: payload)),
    ])
    let status = try #require(SubscriptionStatus.all(in: facts, at: 50).first)
    #expect(status.ownership == .assigned)
    #expect(status.seats == 1)
  }

  @Test func `the next period has the seats that the renewal says, unless it is turned off`() throws {
    let transaction = try Self.transaction("1", #""quantity":5"#)
    for (isOn, seats) in [(1, 3), (0, nil)] as [(Int, Int?)] {
      let renewal = try SignedRenewalInfo(
        jws: jws(
          payload: #"{"originalTransactionId":"1","autoRenewStatus":\#(isOn),"renewalQuantity":3}"#))
      let facts = SubscriptionFacts(transactions: [transaction], renewals: [renewal])
      let status = try #require(SubscriptionStatus.all(in: facts, at: 50).first)
      #expect(status.seats == 5)
      #expect(status.nextSeats == seats)
    }
  }
}
