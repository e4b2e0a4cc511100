import AppStoreReceipts
import PurchaseQueue

/// The seats that a backend claims, and the groups of customers, over the App Store Server API (StoreFacts d.2).
extension StoreModel {
  /// The subscription of a purchaser's transaction with invitations that the app hosts.
  private func hosted(_ id: String) throws(ServerAPIError) -> StoreTransactionRecord {
    guard try transaction(atAPI: id).ownership == .purchased else { throw .transactionNotFound }
    do throws(StoreModelError) {
      return try seatedPeriod(of: id, hostedBy: .developer)
    } catch {
      throw .noHostedGroup
    }
  }

  /// *Claim Seat*: another claim, or the one of the same request.
  mutating func claimSeat(
    of id: String, request: String, appTransactionID: String?
  ) throws(ServerAPIError) -> String {
    let record = try hosted(id)
    if let appTransactionID { _ = try customer(of: appTransactionID) }
    var holders = seats[record.originalTransactionID] ?? SeatHolders()
    if let known = holders.claims.first(where: { $0.request == request }) { return known.id }
    guard holders.claims.count + 1 < seatCount(ofPeriodOf: record) else { throw .noAvailableSeats }
    holders.claimed += 1
    let claim = SeatHolders.Claim(
      id: uuid(of: "seat \(record.originalTransactionID) \(holders.claimed)"), request: request,
      appTransactionID: appTransactionID)
    holders.claims.append(claim)
    seats[record.originalTransactionID] = holders
    return claim.id
  }

  /// *Unclaim Seat*.
  mutating func unclaimSeat(_ claim: String, of id: String) throws(ServerAPIError) {
    let original = try hosted(id).originalTransactionID
    guard seats[original]?.claims.contains(where: { $0.id == claim }) == true else {
      throw .seatClaimNotFound
    }
    seats[original]?.claims.removeAll { $0.id == claim }
  }

  /// *Associate Seat*: says which customer has a claimed seat.
  mutating func associateSeat(
    _ claim: String, of id: String, with appTransactionID: String
  ) throws(ServerAPIError) {
    let original = try hosted(id).originalTransactionID
    _ = try customer(of: appTransactionID)
    guard let place = seats[original]?.claims.firstIndex(where: { $0.id == claim }) else {
      throw .seatClaimNotFound
    }
    seats[original]?.claims[place].appTransactionID = appTransactionID
  }

  /// *Get Seat Info*. There can be more claims than seats: a renewal with fewer seats takes none back.
  func seatInfo(of id: String) throws(ServerAPIError) -> (total: Int, available: Int, claims: [String]) {
    let record = try hosted(id)
    let claims = seats[record.originalTransactionID]?.claims.map(\.id) ?? []
    let total = seatCount(ofPeriodOf: record)
    return (total, max(0, total - 1 - claims.count), claims)
  }

  // MARK: Groups

  /// *Get Customer Groups*: the names of the groups of a customer. They are the first transactions of the purchasers.
  func groups(of anyID: String) throws(ServerAPIError) -> [String] {
    let account = try customer(of: anyID)
    return subscriptions.keys.sorted().filter { members(of: $0).contains(appTransactionID(of: account)) }
  }

  /// *Get Group Members*: the app transaction ids of the members, the purchaser first. Empty for an unknown group.
  func members(of group: String) -> [String] {
    guard let last = latest(of: group), last.invitations != nil, subscriptions[group]?.isEntitled == true
    else {
      return []
    }
    let holders = seats[group] ?? SeatHolders()
    return [appTransactionID(of: last.storeAccount)]
      + holders.members.map { appTransactionID(of: $0.storeAccount) }
      + holders.claims.compactMap(\.appTransactionID)
  }
}
