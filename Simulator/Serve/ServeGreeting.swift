import AppStoreReceipts
import BackendConformance
import PurchaseSyncTesting

/// What `serve` prints when it is ready: the addresses, and what to do first.
struct ServeGreeting {
  let url: String
  /// Nil for a new one, removed at the end.
  let database: String?
  let environment: StoreEnvironment
  /// A product for the first request.
  let product: String
  let broken: BrokenBackend?
  /// Whether the proofs have checksums and no signatures.
  let hasChecksums: Bool

  var text: String {
    """
    Base URL       \(url)     (in the app: URLSessionTransport(base:) and MockStoreClient(base:))
    Backend        \(url)/v1
    App Store      \(url)/store, environment \(environment.rawValue)
    Status page    \(url)/     buy, approve, renew, refund, move the clock
    Documentation  \(url)/openapi.json
    Root to trust  \(hasChecksums ? "none: the proofs have checksums" : url + Self.root)
    API key        \(url)/store/api-key      (for its client of the App Store Server API)
    Database       \(database ?? "a new one, removed at the end")
    \(broken.map { "Broken         \($0.rawValue): \($0.summary)\n" } ?? "")
    'token-NAME' is a bearer token of the account NAME. First an order, then a payment:
      curl -sS \(url)/v1/orders -H 'Authorization: Bearer token-alice' -H 'Idempotency-Key: 1' \
    -H 'Content-Type: application/json' -d '{"productID":"\(product)","quantity":1}'
      curl -sS \(url)/store/payments -H 'Content-Type: application/json' \
    -d '{"storeAccount":"alice@example.com","productID":"\(product)"}'
    Ctrl-C ends it.
    """
  }

  private static let root = "/store/root.cer"

  /// For `serve --json`.
  func addresses(database path: String) -> Addresses {
    Addresses(
      base: url, backend: url + "/v1", store: url + "/store", page: url + "/", openapi: url + "/openapi.json",
      rootCertificate: hasChecksums ? nil : url + Self.root, apiKey: url + "/store/api-key",
      environment: environment.rawValue, database: path)
  }

  struct Addresses: Encodable {
    var base: String
    var backend: String
    var store: String
    var page: String
    var openapi: String
    /// Under which the store signs; nil with checksums.
    var rootCertificate: String?
    var apiKey: String
    var environment: String
    var database: String
  }
}
