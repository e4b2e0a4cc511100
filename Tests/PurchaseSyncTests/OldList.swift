import Foundation
import PurchaseSync

// The examples of the article *Migrating from a home-made queue*. A test compares the texts.
// MARK: begin list
/// What the earlier version of this app kept of each receipt that was not sent.
struct OldItem: Codable, Equatable {
  var receipt: Data
  var transaction: String?
  var user: String
  var order: String?
}

/// Moves the old list into the queue. Call it at each launch, before the shop is made. Returns what had to stay.
func moveOldList(
  into configuration: SyncConfiguration, read: () throws -> Data?, write: (Data) throws -> Void
) throws -> [ImportReport.Kept] {
  guard let data = try read() else { return [] }
  let list = try JSONDecoder().decode([OldItem].self, from: data)
  let items = list.enumerated().map { number, old in
    EarlierPurchase(
      id: String(number), document: Array(old.receipt), transactionID: old.transaction, account: old.user,
      orderNumber: old.order)
  }
  let report = try SyncEngine.importPurchases(items, into: configuration)
  // What was taken is durable by now. After a kill here, the next launch imports all of it again, and nothing twice.
  let kept = Set(report.kept.map(\.id))
  let rest = list.indices.filter { kept.contains(String($0)) }.map { list[$0] }
  if rest.count < list.count { try write(try JSONEncoder().encode(rest)) }
  return report.kept
}
// MARK: end list

// MARK: begin defaults
/// The list was in the user defaults.
func moveList(
  of defaults: UserDefaults, into configuration: SyncConfiguration
) throws -> [ImportReport.Kept] {
  let name = "unsentReceipts"
  return try moveOldList(
    into: configuration, read: { defaults.data(forKey: name) }, write: { defaults.set($0, forKey: name) })
}
// MARK: end defaults

// MARK: begin keychain
/// The functions with which the earlier version read and wrote its keychain item. They throw if the keychain is locked.
protocol OldKeychain {
  func data(named name: String) throws -> Data?
  func store(_ data: Data, named name: String) throws
}

/// The list was in the keychain. The configuration has a vault, so that its items go on surviving an uninstall.
func moveList(
  of keychain: any OldKeychain, into configuration: SyncConfiguration
) throws -> [ImportReport.Kept] {
  let name = "unsentReceipts"
  return try moveOldList(
    into: configuration, read: { try keychain.data(named: name) },
    write: { try keychain.store($0, named: name) })
}
// MARK: end keychain

// MARK: begin launch
/// At launch: the list first, then the shop, with the same configuration.
func openShop(
  moving defaults: UserDefaults, into configuration: SyncConfiguration, store: any SellingStore,
  backend: any BackendTransport, credentials: @escaping CredentialSource,
  fulfil: @escaping Shop.Fulfilment, log: (String) -> Void
) -> Shop {
  do {
    for item in try moveList(of: defaults, into: configuration) {
      log("item \(item.id) stays: \(item.reason)")
    }
  } catch {
    // The list is as it was, and the next launch tries again. The shop works without it.
    log("the old list is not moved: \(error)")
  }
  return Shop(
    store: store, backend: backend, configuration: configuration, credentials: credentials, fulfil: fulfil)
}
// MARK: end launch

/// The earlier version gave each user a token; the server still knows them.
func knowTokens(
  _ configuration: inout SyncConfiguration, ask: @escaping @Sendable (UUID) async throws -> String?
) {
  configuration.accountForToken = { token in try await ask(token) }
}
