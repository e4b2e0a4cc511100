import AppStoreReceipts
import Foundation
import LoopbackHTTP
import PurchaseQueue

/// The routes of the App Store Server API about seats and groups, since 1.22 and 1.23: "only available in the sandbox
/// environment". The mock store answers them in each.
extension MockState {
  static let seatRoutes = [
    Route(api: "POST", "/groups/v1/transactions/*/seats", claimSeat),
    Route(api: "GET", "/groups/v1/transactions/*/seats", seatInfo),
    Route(api: "DELETE", "/groups/v1/transactions/*/seats/*", unclaimSeat),
    Route(api: "POST", "/groups/v1/transactions/*/seats/*/associate", associateSeat),
    Route(api: "GET", "/groups/v1/currentGroups/*", customerGroups),
    Route(api: "GET", "/groups/v1/group/*", groupMembers),
  ]

  private static func claimSeat(
    _ mock: inout MockState, _ call: ServerAPICall
  ) throws(ServerAPIError) -> JSONValue? {
    let body = try call.body()
    guard let request = ServerAPIBody.uuid(body["requestIdentifier"]?.string) else {
      throw .invalidRequestIdentifier
    }
    let claim = try mock.store.claimSeat(
      of: call.parameter, request: request.uuidString, appTransactionID: body["appTransactionId"]?.string)
    return ["seatClaimId": .string(claim)]
  }

  private static func seatInfo(
    _ mock: inout MockState, _ call: ServerAPICall
  ) throws(ServerAPIError) -> JSONValue? {
    let info = try mock.store.seatInfo(of: call.parameter)
    return [
      "totalSeatCount": .integer(Int64(info.total)), "availableSeatCount": .integer(Int64(info.available)),
      "assignedSeatClaimIds": .array(info.claims.map(JSONValue.string)),
    ]
  }

  private static func unclaimSeat(
    _ mock: inout MockState, _ call: ServerAPICall
  ) throws(ServerAPIError) -> JSONValue? {
    let (id, claim) = try parts(of: call)
    try mock.store.unclaimSeat(claim, of: id)
    return nil
  }

  private static func associateSeat(
    _ mock: inout MockState, _ call: ServerAPICall
  ) throws(ServerAPIError) -> JSONValue? {
    let (id, claim) = try parts(of: call)
    guard let customer = try call.body()["appTransactionId"]?.string else { throw .badRequest }
    try mock.store.associateSeat(claim, of: id, with: customer)
    return nil
  }

  private static func parts(of call: ServerAPICall) throws(ServerAPIError) -> (id: String, claim: String) {
    let parts = call.parameter.split(separator: "/").map(String.init)
    guard parts.count == 2 else { throw .badRequest }
    return (parts[0], parts[1])
  }

  private static func customerGroups(
    _ mock: inout MockState, _ call: ServerAPICall
  ) throws(ServerAPIError) -> JSONValue? {
    let groups = try mock.store.groups(of: call.parameter)
    return ["groups": .array(groups.map { ["groupId": .string($0), "groupType": "CONSUMER"] })]
  }

  /// The most members in an answer.
  private static let mostMembers = 100

  private static func groupMembers(
    _ mock: inout MockState, _ call: ServerAPICall
  ) throws(ServerAPIError) -> JSONValue? {
    let limit = call.query.values("limit").last.map { Int($0) ?? 0 } ?? mostMembers
    guard 1...mostMembers ~= limit else { throw .invalidLimit }
    let all = mock.store.members(of: call.parameter)
    let first = call.query.values("paginationToken").last.map { Int($0) ?? -1 } ?? 0
    guard 0...all.count ~= first else { throw .badRequest }
    let page = all.dropFirst(first).prefix(limit)
    var reply: [String: JSONValue] = [
      "members": .array(page.map { ["appTransactionId": .string($0)] }),
      "hasMore": .bool(page.endIndex < all.endIndex),
    ]
    if page.endIndex < all.endIndex { reply["paginationToken"] = .string(String(page.endIndex)) }
    return .object(reply)
  }
}
