import PurchaseQueue
import PurchaseSync

// Examples of the articles. A test compares the texts.

// MARK: begin restore
/// What a "Restore purchases" button does. Returns a text for the user.
func restorePurchases(of account: String, in shop: Shop) async throws -> String {
  let outcomes = try await shop.restore(for: account)
  let count = outcomes.count(where: \.isFulfilled)
  return count == 0 ? "Nothing new was found." : "Restored: \(count)."
}
// MARK: end restore

// MARK: begin support
/// A text that a user can send to support. It holds no proof and no token.
func report(on order: String, in shop: Shop) async throws -> String {
  let engine = try await shop.syncEngine()
  return try await engine.caseFiles(order: order).map(\.description).joined(separator: "\n")
}
// MARK: end support

// MARK: begin settings
/// The settings of an app that sells many consumables in a session, also while its backend is down.
func settings() -> SyncConfiguration {
  var configuration = SyncConfiguration.standard
  configuration.limits.entries = 256
  configuration.orderPolicy = .backendFirst(timeLimit: .seconds(5))
  return configuration
}
// MARK: end settings
