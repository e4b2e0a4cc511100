import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting

/// Orders, the store's transactions and the backend's answers: made before the measurement, since the machine does not
/// make them.
struct MachineLoad {
  /// A class, so that it is passed without a copy.
  final class Purchase {
    let order: OrderFacts
    let accountToken: UUID
    let transaction: StoreTransaction
    let reply: UploadReply
    let moment: Timestamp

    init(
      order: OrderFacts, accountToken: UUID, transaction: StoreTransaction, reply: UploadReply,
      moment: Timestamp
    ) {
      self.order = order
      self.accountToken = accountToken
      self.transaction = transaction
      self.reply = reply
      self.moment = moment
    }
  }

  let purchases: [Purchase]

  /// The accounts take turns; each has its lane.
  init(count: Int, accounts: Int, seed: UInt64 = 7) {
    var random = SplitMix64(seed: seed)
    let begin: Int64 = 1_700_000_000_000
    // As with StoreKit 2, each transaction has its own proof and the token of its order.
    purchases = (0..<count).map { index in
      let moment = Timestamp(milliseconds: begin + Int64(index) * 1_000)
      let token = random.nextUUID()
      let order = OrderFacts(
        number: "order-\(index)", account: "account-\(index % accounts)", productID: "gems", quantity: 1,
        createdAt: moment)
      let id = String(2_000_000_000_000_001 + index)
      let transaction = StoreTransaction(
        environment: .production, transactionID: id, originalTransactionID: id, productID: "gems",
        quantity: 1,
        purchasedAt: moment.adding(milliseconds: 400), accountToken: token,
        proof: Payload(kind: "signedTransaction", bytes: Array(id.utf8)))
      let verdict = ClaimVerdict(environment: "Production", transactionID: id, verdict: .granted)
      return Purchase(
        order: order, accountToken: token, transaction: transaction,
        reply: UploadReply(ledgerEpoch: "1", verdicts: [verdict]),
        moment: moment.adding(milliseconds: 500))
    }
  }
}

/// An implementation that handles purchases from order to finish.
protocol MachineSubject {
  init()
  /// Returns how many outcomes the app was given.
  mutating func work(_ load: MachineLoad) throws -> Int
}
