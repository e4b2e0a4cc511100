import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting

/// Orders, what the store says of their payments, and what the backend will answer: all that is not the machine's
/// work, made before it is measured.
struct MachineLoad {
  /// One that is handed over without being copied.
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

  /// Of so many accounts in turn; each has its lane.
  init(count: Int, accounts: Int, seed: UInt64 = 7) {
    var random = SplitMix64(seed: seed)
    let begin: Int64 = 1_700_000_000_000
    // A proof of its own for each, as StoreKit 2 has it, and an order whose token it carries.
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
        proof: Proof(kind: "signedTransaction", bytes: Array(id.utf8)))
      let verdict = ClaimVerdict(environment: "Production", transactionID: id, verdict: .granted)
      return Purchase(
        order: order, accountToken: token, transaction: transaction,
        reply: UploadReply(ledgerEpoch: "1", verdicts: [verdict]),
        moment: moment.adding(milliseconds: 500))
    }
  }
}

/// Who brings purchases from their order to their finish.
protocol MachineSubject {
  init()
  /// Returns how many outcomes the app was told.
  mutating func work(_ load: MachineLoad) throws -> Int
}
