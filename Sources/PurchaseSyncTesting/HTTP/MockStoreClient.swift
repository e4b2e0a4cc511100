public import Foundation
import PurchaseQueue
public import PurchaseSync

/// The mock store as an app sees it: pays, and is what the engine needs of a store.
///
/// One value is one launch of the app: transactions that another value paid for are redelivered to it as after a
/// restart.
public struct MockStoreClient: AppStore {
  private let transport: URLSessionTransport
  private let storeAccount: String?
  private let device: String?
  private let launch = UUID().uuidString

  /// - Parameters:
  ///   - base: The mock's URL.
  ///   - storeAccount: Who is signed in to the store, whatever happens.
  public init(base: URL, storeAccount: String) {
    self.init(base: base, storeAccount: storeAccount, device: nil)
  }

  /// - Parameters:
  ///   - base: The mock's URL.
  ///   - device: The name of a device. Who is signed in on it can change at any time, see `StoreModel.signIn`.
  public init(base: URL, device: String) {
    self.init(base: base, storeAccount: nil, device: device)
  }

  private init(base: URL, storeAccount: String?, device: String?) {
    // A listing of a thousand transactions is longer than any answer of a backend.
    transport = URLSessionTransport(base: base, timeout: 10, responseBytes: 64 << 20)
    self.storeAccount = storeAccount
    self.device = device
  }

  private struct Payment: Encodable {
    var storeAccount: String?
    var device: String?
    var launch: String
    var productID: String
    var quantity: Int
    var accountToken: UUID?
    var delivery: StoreDelivery?
  }

  /// The payment sheet, confirmed. Charges. The transaction as the first of its interfaces hands it over; all of them
  /// are in the next listing.
  public func pay(
    product: String, quantity: Int, accountToken: UUID?, delivery: StoreDelivery? = nil
  ) async throws -> StoreTransaction {
    switch try await purchase(
      product: product, quantity: quantity, accountToken: accountToken, delivery: delivery)
    {
    case .purchased(let transaction): return transaction
    case .pending: throw TransportError(reason: "the store waits for somebody to agree")
    case .cancelled: throw TransportError(reason: "the store interrupted the purchase")
    }
  }

  /// The payment sheet, confirmed, whatever comes of it: *pending* with Ask to Buy; *cancelled* where the store
  /// interrupts the purchase, which may go through later all the same.
  public func purchase(
    product: String, quantity: Int = 1, accountToken: UUID?, delivery: StoreDelivery? = nil
  ) async throws -> PurchaseResult {
    let payment = Payment(
      storeAccount: storeAccount, device: device, launch: launch, productID: product, quantity: quantity,
      accountToken: accountToken, delivery: delivery)
    let response = try await send("POST", "store/payments", try JSONEncoder().encode(payment))
    if response.status == 202 {
      let request = try JSONDecoder().decode(RequestDocument.self, from: response.body)
      return request.origin == .askToBuy ? .pending : .cancelled
    }
    let listing = try listing(try Self.body(of: response))
    guard let transaction = listing.transactions.first else {
      throw TransportError(reason: "the store charged and handed over nothing")
    }
    return .purchased(transaction)
  }

  /// What somebody has begun on the app's page in the store, and the app has yet to pay: request and product.
  public func promoted() async throws -> [(requestID: String, productID: String)] {
    let body = try await call("GET", "store/requests?" + caller, Data())
    return try JSONDecoder().decode(RequestList.self, from: body).requests
      .filter { $0.origin == .promoted }.map { ($0.requestID, $0.productID) }
  }

  /// Pays what was begun in the store; its transaction is in the next listing.
  public func approve(requestID: String, accountToken: UUID?) async throws {
    let decision = RequestDecision(requestID: requestID, accountToken: accountToken)
    _ = try await call("POST", "store/requests/approve", try JSONEncoder().encode(decision))
  }

  /// Asks for everything that the store account owns. Prompts; what is restored is in the next listing.
  public func restore() async throws -> StoreListing {
    let document = StoreCallerDocument(storeAccount: storeAccount, device: device)
    return try listing(try await call("POST", "store/restore", try JSONEncoder().encode(document)))
  }

  /// Signs another Apple ID in on this client's device.
  public func signIn(_ storeAccount: String) async throws {
    let request = SignInRequest(device: device ?? "", storeAccount: storeAccount)
    _ = try await call("POST", "store/sign-in", try JSONEncoder().encode(request))
  }

  /// In the order of purchase, under the name of the store account that is signed in.
  public func unfinished() async throws -> StoreListing {
    try listing(try await call("GET", "store/unfinished?launch=\(launch)&" + caller, Data()))
  }

  /// The app receipt of the store account that is signed in; no prompt.
  public func receipt() async throws -> [UInt8]? {
    try receipt(in: try await call("GET", "store/receipt?" + caller, Data()))
  }

  /// Prompts, which the world counts.
  public func refreshReceipt() async throws -> [UInt8]? {
    let document = StoreCallerDocument(storeAccount: storeAccount, device: device)
    return try receipt(
      in: try await call("POST", "store/receipt/refresh", try JSONEncoder().encode(document)))
  }

  /// Tells the store that the transaction is done; `notListed` for one of another store account.
  public func finish(transactionID: String) async throws -> FinishResult {
    let request = FinishRequest(transactionID: transactionID, storeAccount: storeAccount, device: device)
    let body = try await call("POST", "store/finish", try JSONEncoder().encode(request))
    let result = try JSONDecoder().decode(FinishReply.self, from: body).result
    return result == FinishReply(.notListed).result ? .notListed : .finished
  }

  private var caller: String {
    var allowed = CharacterSet.urlQueryAllowed
    allowed.remove(charactersIn: "&+=")
    let (name, value) = device.map { ("device", $0) } ?? ("storeAccount", storeAccount ?? "")
    return name + "=" + (value.addingPercentEncoding(withAllowedCharacters: allowed) ?? "")
  }

  private func listing(_ body: Data) throws -> StoreListing {
    let reply = try JSONDecoder().decode(ListingReply.self, from: body)
    let receipt = try bytes(reply.receipt) ?? []
    let transactions = try reply.transactions.map { try StoreTransaction($0, receipt: receipt) }
    return StoreListing(account: reply.account, transactions: transactions)
  }

  private func receipt(in body: Data) throws -> [UInt8]? {
    try bytes(try JSONDecoder().decode(ReceiptReply.self, from: body).receipt)
  }

  private func bytes(_ base64: String?) throws -> [UInt8]? { try base64.map(Proof.bytes(base64:)) }

  private func call(_ method: String, _ path: String, _ body: Data) async throws -> Data {
    try Self.body(of: try await send(method, path, body))
  }

  private func send(_ method: String, _ path: String, _ body: Data) async throws -> BackendResponse {
    try await transport.send(BackendRequest(method: method, path: path, headers: [:], body: body))
  }

  private static func body(of response: BackendResponse) throws -> Data {
    guard response.status == 200 else {
      throw TransportError(reason: "the store answered \(response.status)")
    }
    return response.body
  }
}

extension Proof {
  fileprivate static func bytes(base64: String) throws -> [UInt8] {
    guard let data = Data(base64Encoded: base64) else {
      throw TransportError(reason: "the store's base64 is none")
    }
    return Array(data)
  }
}

extension StoreTransaction {
  /// As an adapter makes it: a signed transaction speaks for itself, the old interface has properties.
  fileprivate init(_ delivered: DeliveredTransaction, receipt: [UInt8]) throws {
    if delivered.proofKind == .signedTransaction {
      try self.init(jws: delivered.proof ?? "", isVerified: delivered.isVerified)
      return
    }
    let bytes = try delivered.proof.map(Proof.bytes(base64:)) ?? receipt
    self.init(
      environment: delivered.environment, transactionID: delivered.transactionID,
      originalTransactionID: delivered.originalTransactionID, productID: delivered.productID,
      quantity: delivered.quantity, purchasedAt: delivered.purchasedAt, accountToken: delivered.accountToken,
      proof: Proof(kind: delivered.proofKind.rawValue, bytes: bytes), isVerified: delivered.isVerified)
  }
}
