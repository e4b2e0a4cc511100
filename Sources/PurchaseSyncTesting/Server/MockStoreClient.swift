public import Foundation
import PurchaseQueue
public import PurchaseSync

/// The mock store as an app uses it: a `StoreClient` for the engine that can also pay.
///
/// One value is one launch of the app. Transactions that another value paid are redelivered to this one as after a
/// restart.
public struct MockStoreClient: SellingStore {
  private var transport: any BackendTransport
  private let storeAccount: String?
  private let device: String?
  private let launch = UUID().uuidString
  private var hasUpdates = false
  /// What the next sheet says in place of the truth.
  private var lie: @Sendable () -> LabPhone.SheetEnd? = { nil }

  /// - Parameters:
  ///   - base: The mock's URL.
  ///   - storeAccount: The store account that is always signed in.
  public init(base: URL, storeAccount: String) {
    self.init(base: base, storeAccount: storeAccount, device: nil)
  }

  /// - Parameters:
  ///   - base: The mock's URL.
  ///   - device: The name of a device. The store account on it can change, see `signIn(_:)` and `StoreModel.signIn`.
  public init(base: URL, device: String) {
    self.init(base: base, storeAccount: nil, device: device)
  }

  /// The same, over a way that is made of the usual one.
  package init(base: URL, device: String, through way: (any BackendTransport) -> any BackendTransport) {
    self.init(base: base, device: device)
    transport = way(transport)
  }

  /// - Parameters:
  ///   - server: A mock in the same process, which is reached without sockets.
  ///   - storeAccount: The store account that is always signed in.
  public init(server: MockServer, storeAccount: String) {
    (transport, self.storeAccount, device) = (server.transport, storeAccount, nil)
  }

  /// A client on a device, over another way than HTTP. `lie` is asked when a sheet ends.
  init(
    network: some BackendTransport, device: String, lie: @escaping @Sendable () -> LabPhone.SheetEnd?
  ) {
    (transport, storeAccount, self.device, self.lie) = (network, nil, device, lie)
    hasUpdates = true
  }

  private init(base: URL, storeAccount: String?, device: String?) {
    // A listing of a thousand transactions is longer than any answer of a backend.
    transport = URLSessionTransport(base: base, timeout: 10, responseBytes: 64 << 20)
    self.storeAccount = storeAccount
    self.device = device
  }

  /// Confirms the payment sheet, which charges, and returns the transaction with its first proof. The next listing has
  /// the transaction once per proof. Throws if the purchase has to wait.
  public func pay(
    product: String, quantity: Int, accountToken: UUID?, delivery: StoreDelivery? = nil
  ) async throws -> StoreTransaction {
    switch try await purchase(
      product: product, quantity: quantity, accountToken: accountToken, delivery: delivery)
    {
    case .purchased(let transaction): return transaction
    case .pending: throw TransportError(reason: "the purchase waits for approval")
    case .cancelled: throw TransportError(reason: "the store interrupted the purchase")
    }
  }

  /// Confirms the payment sheet for an order.
  public func purchase(_ order: PurchaseOrder) async throws -> PurchaseResult {
    let result = try await purchase(
      product: order.productID, quantity: order.quantity, accountToken: order.accountToken)
    switch lie() {
    case nil: return result
    case .cancelled: return .cancelled
    case .pending: return .pending
    case .error(let domain, let code): throw NSError(domain: domain, code: code)
    }
  }

  /// In a lab: the unfinished transactions once, as StoreKit's updates have them at each launch. Elsewhere it ends at once.
  public var updates: AsyncStream<StoreTransaction> {
    AsyncStream { updates in
      guard hasUpdates else { return updates.finish() }
      let reading = Task {
        do {
          for transaction in try await unfinished().transactions { updates.yield(transaction) }
        } catch {
          return updates.finish()  // The engine lists them, too.
        }
        updates.finish()
      }
      updates.onTermination = { _ in reading.cancel() }
    }
  }

  /// Confirms the payment sheet. The result is *pending* with Ask to Buy, and *cancelled* if the store interrupts the
  /// purchase, which may complete later.
  public func purchase(
    product: String, quantity: Int = 1, accountToken: UUID?, delivery: StoreDelivery? = nil
  ) async throws -> PurchaseResult {
    let payment = PaymentRequest(
      storeAccount: storeAccount, device: device, launch: launch, productID: product, quantity: quantity,
      accountToken: accountToken, delivery: delivery)
    let response = try await send("POST", "store/payments", try JSONEncoder().encode(payment))
    if response.status == 202 {
      let request = try JSONDecoder().decode(RequestDocument.self, from: response.body)
      return request.origin == .askToBuy ? .pending : .cancelled
    }
    let listing = try listing(try Self.body(of: response))
    guard let transaction = listing.transactions.first else {
      throw TransportError(reason: "the store charged and sent no transaction")
    }
    return .purchased(transaction)
  }

  /// The purchases that were begun on the app's page in the store and that the app has to pay: request and product.
  public func promoted() async throws -> [(requestID: String, productID: String)] {
    let body = try await call("GET", "store/requests?" + caller, Data())
    return try JSONDecoder().decode(RequestList.self, from: body).requests
      .filter { $0.origin == .promoted }.map { ($0.requestID, $0.productID) }
  }

  /// Pays a purchase that was begun in the store. The next listing has its transaction.
  public func approve(requestID: String, accountToken: UUID?) async throws {
    let decision = RequestDecision(requestID: requestID, accountToken: accountToken)
    _ = try await call("POST", "store/requests/approve", try JSONEncoder().encode(decision))
  }

  /// Restores the purchases of the store account, which prompts for a password. The next listing has them.
  public func restore() async throws -> StoreListing {
    let document = StoreCaller(storeAccount: storeAccount, device: device)
    return try listing(try await call("POST", "store/restore", try JSONEncoder().encode(document)))
  }

  /// Signs another Apple ID in on this client's device.
  public func signIn(_ storeAccount: String) async throws {
    let request = SignInRequest(device: device ?? "", storeAccount: storeAccount)
    _ = try await call("POST", "store/sign-in", try JSONEncoder().encode(request))
  }

  /// The unfinished transactions of the signed-in store account, in order of purchase.
  public func unfinished() async throws -> StoreListing {
    try listing(try await call("GET", "store/unfinished?launch=\(launch)&" + caller, Data()))
  }

  /// The app receipt of the signed-in store account, without a prompt.
  public func receipt() async throws -> [UInt8]? {
    try receipt(in: try await call("GET", "store/receipt?" + caller, Data()))
  }

  /// A new app receipt, which prompts for a password. The mock server counts the prompts.
  public func refreshReceipt() async throws -> [UInt8]? {
    let document = StoreCaller(storeAccount: storeAccount, device: device)
    return try receipt(
      in: try await call("POST", "store/receipt/refresh", try JSONEncoder().encode(document)))
  }

  /// Finishes transactions; `notListed` for one of another store account.
  public func finish(transactionIDs: [String]) async throws -> [String: FinishResult] {
    let request = FinishRequest(transactionIDs: transactionIDs, storeAccount: storeAccount, device: device)
    let body = try await call("POST", "store/finish", try JSONEncoder().encode(request))
    let results = try JSONDecoder().decode(FinishReply.self, from: body).results
    return results.mapValues { $0 == .notListed ? .notListed : .finished }
  }

  private var caller: String {
    var allowed = CharacterSet.urlQueryAllowed
    allowed.remove(charactersIn: "&+=")
    let (name, value) = device.map { ("device", $0) } ?? ("storeAccount", storeAccount ?? "")
    return name + "=" + (value.addingPercentEncoding(withAllowedCharacters: allowed) ?? "")
  }

  private func listing(_ body: Data) throws -> StoreListing {
    let reply = try JSONDecoder().decode(StoreHandover.self, from: body)
    let receipt = reply.receipt.map(Array.init) ?? []
    let transactions = try reply.transactions.map { try StoreTransaction($0, receipt: receipt) }
    return StoreListing(account: reply.storeAccount, transactions: transactions)
  }

  private func receipt(in body: Data) throws -> [UInt8]? {
    try JSONDecoder().decode(ReceiptReply.self, from: body).receipt.map(Array.init)
  }

  private func call(_ method: String, _ path: String, _ body: Data) async throws -> Data {
    try Self.body(of: try await send(method, path, body))
  }

  private func send(_ method: String, _ path: String, _ body: Data) async throws -> BackendResponse {
    let headers = method == "POST" ? ["Content-Type": "application/json"] : [:]
    return try await transport.send(
      BackendRequest(method: method, path: path, headers: headers, body: body))
  }

  private static func body(of response: BackendResponse) throws -> Data {
    guard response.status == 200 else {
      throw TransportError(reason: "the store answered \(response.status)")
    }
    return response.body
  }
}

extension Payload {
  fileprivate static func bytes(base64: String) throws -> [UInt8] {
    guard let data = Data(base64Encoded: base64) else {
      throw TransportError(reason: "the store sent invalid base64")
    }
    return Array(data)
  }
}

extension StoreTransaction {
  /// As an adapter makes it: from the signed transaction, or from the properties of the old interface.
  fileprivate init(_ delivered: DeliveredTransaction, receipt: [UInt8]) throws {
    if delivered.proofKind == .signedTransaction {
      try self.init(jws: delivered.proof ?? "", isVerified: delivered.isVerified)
      return
    }
    let bytes = try delivered.proof.map(Payload.bytes(base64:)) ?? receipt
    self.init(
      environment: delivered.environment, transactionID: delivered.transactionID,
      originalTransactionID: delivered.originalTransactionID, productID: delivered.productID,
      quantity: delivered.quantity, purchasedAt: delivered.purchasedAt, accountToken: delivered.accountToken,
      proof: Payload(kind: delivered.proofKind.rawValue, bytes: bytes), isVerified: delivered.isVerified)
  }
}
