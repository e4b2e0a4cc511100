package import AppStoreReceipts
package import Foundation
package import PurchaseSync
import PurchaseSyncTesting

/// A backend under test, and what belongs to it.
package struct ConformanceSite: Sendable {
  /// Leads to the backend; paths are such as `v1/orders`.
  package var backend: any BackendTransport
  /// Leads to the server of the mock store; paths are such as `store/payments`. Nil without one.
  package var store: (any BackendTransport)?
  /// The bearer tokens of two different accounts.
  package var tokens: (alice: String, bob: String)
  /// The names of these accounts; nil for unknown.
  package var accounts: (alice: String, bob: String)?
  /// A product that the backend sells; nil for one of the store's.
  package var product: String?
  /// Kills the backend and starts it again; returns when it can answer. Nil if that is not possible.
  package var restart: (@Sendable () async throws -> Void)?
  /// How long a read may be behind the write before it, as with replicas: a read after a write waits for it.
  package var lag = Duration.zero
  /// Waits, while a verdict is pending or as `Retry-After` says.
  package var pause: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  /// Shows a body in a report. It must leave out credentials and proofs.
  package var describe: @Sendable (Data, JSONValue?) -> String

  package init(
    backend: any BackendTransport, store: (any BackendTransport)?, tokens: (alice: String, bob: String),
    describe: @escaping @Sendable (Data, JSONValue?) -> String
  ) {
    (self.backend, self.store, self.tokens, self.describe) = (backend, store, tokens, describe)
  }

  /// What checks cannot have here.
  package var missing: Set<ConformanceNeed> {
    var missing: Set<ConformanceNeed> = []
    if store == nil { missing.insert(.store) }
    if store == nil, product == nil { missing.insert(.product) }
    if accounts == nil { missing.insert(.accounts) }
    if restart == nil { missing.insert(.restart) }
    return missing
  }
}
