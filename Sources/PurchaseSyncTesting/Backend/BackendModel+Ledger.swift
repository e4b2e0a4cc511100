public import Foundation
public import PurchaseQueue

extension BackendModel {
  /// Moves to an account what the device was granted and nobody claimed yet, and what it was charged for until now
  /// and will upload later. What is charged after this moment needs a new claim.
  ///
  /// A repetition at the same moment, and a claim that comes too late for anything, write nothing. What moved once
  /// stays where it is.
  public mutating func claimDevice(_ device: UUID, for account: String, now: Timestamp) -> [BackendWrite] {
    let unclaimed = credits.contains { owner(of: $0) == .device(device) }
    let last = deviceClaims.last { $0.device == device }
    guard unclaimed || last.map({ $0.at < now }) ?? true else { return [] }
    let claim = DeviceClaim(
      device: device, account: account, throughSequence: credits.last?.sequence ?? 0, at: now)
    apply(.deviceClaim(claim))
    return [.deviceClaim(claim)]
  }

  /// Records that the store took a transaction back, credited or not. Repeating it writes nothing.
  public mutating func reverse(_ transaction: TransactionKey, at moment: Timestamp) -> [BackendWrite] {
    guard !isReversed(transaction) else { return [] }
    let reversal = Reversal(transaction: transaction, at: moment)
    apply(.reversal(reversal))
    return [.reversal(reversal)]
  }

  /// Credits beyond one per transaction, plus credits beyond one per order. 0 in every correct run.
  public var doubledCredits: Int {
    let transactions = Set(credits.map(\.transaction)).count
    let bound = credits.compactMap(\.orderNumber)
    // A second credit of the same transaction for the same order is one doubling, not two.
    let pairs = Set(
      credits.compactMap { credit in
        credit.orderNumber.map { OrderAndTransaction(order: $0, transaction: credit.transaction) }
      })
    return credits.count - transactions + pairs.count - Set(bound).count
  }

  private struct OrderAndTransaction: Hashable {
    var order: String
    var transaction: TransactionKey
  }
}
