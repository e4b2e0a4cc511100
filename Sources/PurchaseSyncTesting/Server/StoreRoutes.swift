import AppStoreReceipts
import Foundation
import LoopbackHTTP
import PurchaseSync

/// The routes by which an app uses the mock store. They trust the caller: in the real store, the system asks.
extension MockState {
  static func products(_ mock: inout MockState, _ call: Route.Call) -> ProductList {
    ProductList(products: mock.store.products.values.sorted { $0.id < $1.id })
  }

  static func pay(_ mock: inout MockState, _ call: Route.Call) throws -> HTTPResponse {
    let request = try JSONBody.decode(PaymentRequest.self, from: call.request)
    let payment = StorePayment(
      productID: request.productID, quantity: request.quantity ?? 1, accountToken: request.accountToken,
      storeAccount: mock.account(request.storeAccount, device: request.device) ?? "",
      delivery: request.delivery, launch: request.launch)
    switch try mock.store.purchase(payment, now: call.now) {
    case .waits(let request): return try JSONBody.response(RequestDocument(request), status: 202)
    case .purchased(let record):
      let handover = mock.store.handover(
        [record], to: record.storeAccount, launch: payment.launch, now: call.now)
      return try JSONBody.response(
        PaymentReply(
          transactionID: record.transactionID,
          signedTransaction: mock.store.forge.signedTransaction(record, signedAt: call.now),
          transactions: handover.transactions, receipt: handover.receipt))
    }
  }

  static func unfinished(_ mock: inout MockState, _ call: Route.Call) throws -> StoreHandover {
    mock.store.listing(
      storeAccount: try mock.account(of: call.request), launch: call.request.query["launch"], now: call.now)
  }

  /// A request that names a store account or a device finishes only what is listed for it. A request that names neither
  /// finishes any transaction.
  static func finish(
    _ mock: inout MockState, _ target: FinishRequest, _ call: Route.Call
  ) throws -> FinishReply {
    guard target.storeAccount != nil || target.device != nil else {
      for id in target.transactionIDs { try mock.store.finish(transactionID: id) }
      return FinishReply(Dictionary(target.transactionIDs.map { ($0, .finished) }) { first, _ in first })
    }
    let account = mock.account(target.storeAccount, device: target.device)
    var results: [String: FinishResult] = [:]
    for id in target.transactionIDs { results[id] = mock.store.finish(transactionID: id, as: account) }
    return FinishReply(results)
  }

  static func receipt(_ mock: inout MockState, _ call: Route.Call) throws -> ReceiptReply {
    let account = try mock.account(of: call.request)
    return ReceiptReply(receipt: mock.store.receipt(storeAccount: account, now: call.now).map { Data($0) })
  }

  static func refreshReceipt(
    _ mock: inout MockState, _ caller: StoreCaller, _ call: Route.Call
  ) throws -> ReceiptReply {
    let account = mock.account(caller.storeAccount, device: caller.device)
    let receipt = try mock.store.refreshReceipt(storeAccount: account, now: call.now)
    return ReceiptReply(receipt: receipt.map { Data($0) })
  }

  static func restore(
    _ mock: inout MockState, _ caller: StoreCaller, _ call: Route.Call
  ) throws -> StoreHandover {
    try mock.store.restore(
      storeAccount: mock.account(caller.storeAccount, device: caller.device), now: call.now)
  }

  static func signIn(_ mock: inout MockState, _ request: SignInRequest, _ call: Route.Call) -> EmptyDocument {
    mock.store.signIn(device: request.device, storeAccount: request.storeAccount)
    return EmptyDocument()
  }

  static func requests(_ mock: inout MockState, _ call: Route.Call) throws -> RequestList {
    let account = try mock.account(of: call.request)
    let waiting = mock.store.requests.filter { $0.payment.storeAccount == account && $0.state == .waiting }
    return RequestList(requests: waiting.map(RequestDocument.init))
  }

  /// The named store account, or the one that is signed in on the device; nil if no account is signed in there.
  func account(_ storeAccount: String?, device: String?) -> String? {
    storeAccount ?? device.flatMap { store.signedIn[$0] }
  }

  private func account(of request: HTTPRequest) throws -> String? {
    let account = request.query["storeAccount"].flatMap { $0.isEmpty ? nil : $0 }
    let device = request.query["device"]
    guard account != nil || device != nil else {
      throw HTTPProblem.malformed("the query has neither storeAccount nor device")
    }
    return self.account(account, device: device)
  }
}

/// The routes by which a backend asks the mock store (StoreFacts a.1, c).
extension MockState {
  /// "The body limit is 3,145,728 bytes" (StoreFacts a.1).
  static let verifyReceiptLimit = 3 << 20

  static func verifyProduction(_ mock: inout MockState, _ call: Route.Call) throws -> HTTPResponse {
    try verifyReceipt(&mock, call, host: .production)
  }

  static func verifySandbox(_ mock: inout MockState, _ call: Route.Call) throws -> HTTPResponse {
    try verifyReceipt(&mock, call, host: .sandbox)
  }

  /// 200 whatever the status in the body, and no Content-Type, as the store answers (a.1).
  private static func verifyReceipt(
    _ mock: inout MockState, _ call: Route.Call, host: StoreEnvironment
  ) throws -> HTTPResponse {
    guard call.request.body.count <= verifyReceiptLimit else {
      throw HTTPProblem(status: 413, type: "too-large", title: "The request is too large")
    }
    guard call.request.method == "POST" else {
      return HTTPResponse(status: 200, body: Array(#"{"status":21000}"#.utf8))
    }
    let answer = mock.store.verifyReceipt(body: Data(call.request.body), host: host, now: call.now)
    return HTTPResponse(status: 200, body: Array(answer.text.utf8))
  }

  /// *Get Transaction Info*: the transaction as it is now, signed.
  static func transactionInfo(_ mock: inout MockState, _ call: Route.Call) throws -> TransactionInfo {
    mock.store.advance(to: call.now)
    guard let record = mock.store.transaction(call.parameter) else {
      throw HTTPProblem.notFound(TransactionInfo.unknown)
    }
    return TransactionInfo(
      signedTransactionInfo: mock.store.forge.signedTransaction(record, signedAt: call.now))
  }

  /// *Get Transaction History*: every transaction of the chain that this transaction belongs to, on one page.
  static func transactionHistory(_ mock: inout MockState, _ call: Route.Call) throws -> TransactionHistory {
    mock.store.advance(to: call.now)
    let store = mock.store
    guard let record = store.transaction(call.parameter) else {
      throw HTTPProblem.notFound(TransactionInfo.unknown)
    }
    let chain = store.transactions(storeAccount: record.storeAccount)
      .filter { $0.originalTransactionID == record.originalTransactionID }
    return TransactionHistory(
      bundleId: store.forge.bundleID, environment: store.environment.rawValue, hasMore: false,
      signedTransactions: chain.map { store.forge.signedTransaction($0, signedAt: call.now) })
  }
}
