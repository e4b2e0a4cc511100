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
          transactionID: record.transactionID, orderID: StoreModel.orderID(of: record),
          signedTransaction: mock.store.signer.signedTransaction(record, signedAt: call.now),
          transactions: handover.transactions, receipt: handover.receipt))
    }
  }

  static func unfinished(_ mock: inout MockState, _ call: Route.Call) throws -> StoreHandover {
    try call.request.allow(query: ["storeAccount", "device", "launch"])
    return mock.store.listing(
      storeAccount: try mock.account(of: call.request), launch: call.request.query["launch"], now: call.now)
  }

  /// A request that names a store account or a device finishes only what is listed for it. A request that names neither
  /// finishes any transaction.
  static func finish(
    _ mock: inout MockState, _ target: FinishRequest, _ call: Route.Call
  ) throws -> FinishReply {
    guard target.storeAccount != nil || target.device != nil else {
      for id in target.transactionIDs { try mock.store.finish(transactionID: id, at: call.now) }
      return FinishReply(Dictionary(target.transactionIDs.map { ($0, .finished) }) { first, _ in first })
    }
    let account = mock.account(target.storeAccount, device: target.device)
    var results: [String: FinishResult] = [:]
    for id in target.transactionIDs {
      results[id] = mock.store.finish(transactionID: id, as: account, at: call.now)
    }
    return FinishReply(results)
  }

  static func receipt(_ mock: inout MockState, _ call: Route.Call) throws -> ReceiptReply {
    try call.request.allow(query: ["storeAccount", "device", "launch", "broken", "bundleID"])
    let account = try mock.account(of: call.request)
    if let defect = try defect(in: call.request) {
      let bytes = mock.store.brokenReceipt(defect, storeAccount: account, now: call.now)
      return ReceiptReply(receipt: bytes.map { Data($0) })
    }
    if let app = call.request.query["bundleID"] {
      let bytes = mock.store.receipt(ofApp: app, storeAccount: account, now: call.now)
      return ReceiptReply(receipt: bytes.map { Data($0) })
    }
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
    try call.request.allow(query: ["storeAccount", "device"])
    let account = try mock.account(of: call.request)
    let waiting = mock.store.requests.filter { $0.payment.storeAccount == account && $0.state == .waiting }
    return RequestList(requests: waiting.map(RequestDocument.init))
  }

  /// The named store account, or the one that is signed in on the device; nil if no account is signed in there.
  func account(_ storeAccount: String?, device: String?) -> String? {
    storeAccount ?? device.flatMap { store.signedIn[$0] }
  }

  func account(of request: HTTPRequest) throws -> String? {
    for (name, value) in request.query where ["storeAccount", "device", "launch"].contains(name) {
      try IDLimits.check(value, IDLimits.name, name)
    }
    let stated = request.query["storeAccount"] ?? ""
    let device = request.query["device"]
    if stated.isEmpty, device == nil {
      throw HTTPProblem.malformed("the query has neither storeAccount nor device")
    }
    return account(stated.isEmpty ? nil : stated, device: device)
  }
}

/// The deprecated route by which a backend asks the mock store (StoreFacts a.1). `ServerAPIRoutes` has the others.
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
    guard call.request.body.count <= verifyReceiptLimit else { throw HTTPProblem.tooLarge() }
    guard call.request.method == "POST" else {
      return HTTPResponse(status: 200, body: Array(#"{"status":21000}"#.utf8))
    }
    let answer = mock.store.verifyReceipt(body: Data(call.request.body), host: host, now: call.now)
    return HTTPResponse(status: 200, body: Array(answer.text.utf8))
  }
}
