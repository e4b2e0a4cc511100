import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync

/// A call of the backend to the App Store Server API that changes something there. Each may be repeated.
enum StoreErrand: Hashable {
  /// *Finish Transaction*. Only for a transaction whose grant is durable: the store delivers it to no device any more.
  case finish(transactionID: String)
  /// *Set App Account Token*.
  case setToken(UUID, originalTransactionID: String)
}

/// What the mock backend does at the store, if it was asked to (``MockServer/finishAtStore(_:)``): it grants purchases
/// that the store reports and no device has claimed, gives them a token, and finishes what is granted.
extension MockState {
  /// Notes the errands of an upload: its claims that are granted by now.
  mutating func finishGranted(_ claims: [Claim]) throws {
    guard finishesAtStore else { return }
    for claim in claims { try finishGranted(claim.transactionID) }
  }

  private mutating func finishGranted(_ transactionID: String) throws {
    guard let record = store.transaction(transactionID), !record.isFinished,
      try !backend.model().credits(for: TransactionKey(record)).isEmpty
    else { return }
    errands.append(.finish(transactionID: transactionID))
  }

  /// Grants the purchases of a signed notification whose owner is known, and notes the errands.
  mutating func grantTold(_ lessons: [Lesson], now: Timestamp) throws {
    guard finishesAtStore else { return }
    for lesson in lessons {
      for told in lesson.answer.report?.transactions ?? [] {
        if !told.isTakenBack, !told.isOfAnotherPayer {
          try grant(told, proof: lesson.proof, now: now)
        }
        try finishGranted(told.transactionID)
      }
    }
  }

  private mutating func grant(_ told: VerifiedTransaction, proof: ProofDocument?, now: Timestamp) throws {
    // A later transaction belongs to its chain: a period is credited with the period before, a restored one was.
    guard told.originalTransactionID == told.transactionID else { return }
    guard try backend.model().credits(for: TransactionKey(told)).isEmpty else {
      return try repeatToken(of: told)
    }
    var named = told
    var owner = try backend.model().tokenOrder(of: told)?.account
    if owner == nil, told.appAccountToken == nil,
      let account = try onlyAccount(ofCustomer: told.transactionID)
    {
      // The backend orders what was bought outside the app. Its token goes to the store once this is durable.
      let order = try order(for: told, account: account, now: now)
      named.appAccountToken = order.accountToken.uuidString
      owner = account
      errands.append(.setToken(order.accountToken, originalTransactionID: told.originalTransactionID))
    }
    guard let owner else { return }
    let claim = Claim(
      transactionID: told.transactionID, originalTransactionID: told.originalTransactionID,
      environment: told.environment.rawValue, productID: told.productID, quantity: told.quantity,
      purchasedAt: Timestamp(milliseconds: told.purchaseDate), match: .none)
    let answer = StoreAnswer(.genuine(StoreReport([named])))
    try backend.change { model in
      let upload = UploadRequest(device: BackendModel.noDevice, proof: proof, claims: [claim])
      return model.judge(upload, from: .account(owner), now: now, answers: { _ in answer }).writes
    }
  }

  /// Sets the token again that an earlier process did not set: it ended after the commit, and the notification comes again.
  private mutating func repeatToken(of told: VerifiedTransaction) throws {
    let model = try backend.model()
    guard let credit = model.credits(for: TransactionKey(told)).first,
      let account = model.owner(of: credit).account,
      let order = model.order(account: account, idempotencyKey: Self.outsideKey(told.transactionID)),
      let record = store.transaction(told.transactionID), record.accountToken == nil
    else { return }
    errands.append(.setToken(order.accountToken, originalTransactionID: told.originalTransactionID))
  }

  private static func outsideKey(_ transactionID: String) -> String { "outside-" + transactionID }

  /// The order of a purchase outside the app; the same one for a notification that comes again.
  private mutating func order(
    for told: VerifiedTransaction, account: String, now: Timestamp
  ) throws -> BackendOrder {
    let request = OrderRequest(productID: told.productID, quantity: told.quantity)
    return try backend.perform { model in
      let outcome = try model.createOrder(
        request, account: account, idempotencyKey: Self.outsideKey(told.transactionID), now: now)
      return (outcome.order, outcome.writes)
    }
  }

  /// The account that has everything of this customer that was granted so far; nil for none, and for several: then a
  /// device has to say whose the purchase is. Each credit was proved, or the store's record named its owner: an account
  /// that only names ids has none of them (`BackendModel.decide`).
  private func onlyAccount(ofCustomer transactionID: String) throws -> String? {
    guard let customer = store.transaction(transactionID)?.storeAccount else { return nil }
    let model = try backend.model()
    var accounts: Set<String> = []
    for record in store.transactions(storeAccount: customer) {
      for credit in model.credits(for: TransactionKey(record)) {
        guard case .account(let account) = model.owner(of: credit) else { return nil }
        accounts.insert(account)
      }
    }
    return accounts.count == 1 ? accounts.first : nil
  }

  /// Takes the errands of the request that was just handled.
  mutating func takeErrands() -> [StoreErrand] {
    defer { errands = [] }
    return errands
  }

  /// Goes on the errands of a request whose changes are durable. The store in process takes each; one that it refuses is
  /// counted, and harmless: the device finishes by itself, and a token that is missing at the store stays in the ledger.
  ///
  /// - Parameter now: The time of the machine.
  mutating func go(on errands: [StoreErrand], at now: Timestamp) {
    for errand in errands {
      do throws(ServerAPIError) {
        switch errand {
        case .finish(let id): try store.finish(atAPI: id, at: now.adding(milliseconds: clockShift))
        case .setToken(let token, let id): try store.setAccountToken(token, ofOriginal: id)
        }
      } catch {
        failedErrands += 1
      }
    }
  }
}

extension MockServer {
  /// Whether the backend finishes at the store what it has granted, and grants what the store's notifications report:
  /// purchases that no device sends, and those from outside the app if the customer's account is known. Off at first.
  public func finishAtStore(_ isOn: Bool) { mock.withLock { $0.finishesAtStore = isOn } }
}
