public import Foundation
public import PurchaseSync

/// The mock store as an app sees it: pays, and is what the engine needs of a store.
public struct MockStoreClient: AppStore {
  private let transport: URLSessionTransport
  private let storeAccount: String

  /// - Parameters:
  ///   - base: The mock's URL.
  ///   - storeAccount: Who is signed in to the store on this device.
  public init(base: URL, storeAccount: String) {
    transport = URLSessionTransport(base: base, timeout: 10)
    self.storeAccount = storeAccount
  }

  private struct Payment: Encodable {
    var storeAccount: String
    var productID: String
    var quantity: Int
    var accountToken: UUID?
  }
  private struct Paid: Decodable { var signedTransaction: String }
  private struct Unfinished: Decodable { var transactions: [String] }
  private struct Finish: Encodable { var transactionID: String }

  /// The payment sheet, confirmed. Charges.
  public func pay(product: String, quantity: Int, accountToken: UUID?) async throws -> StoreTransaction {
    let payment = Payment(
      storeAccount: storeAccount, productID: product, quantity: quantity, accountToken: accountToken)
    let body = try await call("POST", "store/payments", try JSONEncoder().encode(payment))
    return try StoreTransaction(jws: try JSONDecoder().decode(Paid.self, from: body).signedTransaction)
  }

  /// In the order of purchase.
  public func unfinished() async throws -> StoreListing {
    var allowed = CharacterSet.urlQueryAllowed
    allowed.remove(charactersIn: "&+=")
    let account = storeAccount.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
    let body = try await call("GET", "store/unfinished?storeAccount=" + account, Data())
    let transactions = try JSONDecoder().decode(Unfinished.self, from: body).transactions.map {
      try StoreTransaction(jws: $0)
    }
    return StoreListing(account: storeAccount, transactions: transactions)
  }

  /// Tells the store that the transaction is done.
  public func finish(transactionID: String) async throws -> FinishResult {
    _ = try await call("POST", "store/finish", try JSONEncoder().encode(Finish(transactionID: transactionID)))
    return .finished
  }

  private func call(_ method: String, _ path: String, _ body: Data) async throws -> Data {
    let request = BackendRequest(method: method, path: path, headers: [:], body: body)
    let response = try await transport.send(request)
    guard response.status == 200 else {
      throw TransportError(reason: "the store answered \(response.status)")
    }
    return response.body
  }
}
