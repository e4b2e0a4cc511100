package import Foundation
package import PurchaseQueue

extension BackendModel {
  /// Moves a device's grants to an account: those that no account has adopted, and those for earlier charges that the
  /// device uploads later. Charges after this moment need another adoption.
  ///
  /// A repetition at the same moment and an adoption without effect write nothing. Adopted grants never move again.
  package mutating func adoptDevice(_ device: UUID, for account: String, now: Timestamp) -> [BackendWrite] {
    let unclaimed = credits.contains { owner(of: $0) == .device(device) }
    let last = deviceAdoptions.last { $0.device == device }
    guard unclaimed || last.map({ $0.at < now }) ?? true else { return [] }
    let claim = AdoptionRecord(
      device: device, account: account, throughSequence: credits.last?.sequence ?? 0, at: now)
    apply(.adoption(claim))
    return [.adoption(claim)]
  }

  /// Records that the store revoked a transaction, credited or not. A repetition writes nothing.
  package mutating func reverse(_ transaction: TransactionKey, at moment: Timestamp) -> [BackendWrite] {
    guard !isReversed(transaction) else { return [] }
    let reversal = Reversal(transaction: transaction, at: moment)
    apply(.reversal(reversal))
    return [.reversal(reversal)]
  }

  /// Credits beyond one per transaction, plus credits beyond one per order. 0 in every correct run.
  package var doubledCredits: Int {
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
