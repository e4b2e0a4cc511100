import PurchaseQueue
import PurchaseSync

// Examples of the articles. A test compares the texts.

// MARK: begin restore
/// What a "Restore purchases" button does. Returns a text for the user.
func restorePurchases(of account: String, in shop: Shop) async throws -> String {
  let count = try await shop.restore(for: account).count
  return count == 0 ? "Nothing new was found." : "Restored: \(count)."
}
// MARK: end restore

// MARK: begin support
/// A text that a user can send to support. It holds no proof and no token.
func report(on item: ShopStatus.Item, in shop: Shop) async throws -> String {
  let engine = try await shop.syncEngine()
  let files = try await engine.caseFiles(order: item.id)
  // A purchase without an order has the key of its transaction.
  let one = files.isEmpty ? try await engine.caseFile(for: EntryKey(rawValue: item.id)) : nil
  return (files + [one].compactMap(\.self)).map(\.description).joined(separator: "\n")
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
