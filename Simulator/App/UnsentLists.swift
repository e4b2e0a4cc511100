import Foundation
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting

/// In memory only.
struct FinishFirst: UnsentList {
  var found: [ClientUpload] { [] }

  init(_ parts: AppParts, _ store: MockStoreClient) throws {}

  func keep(_ list: [ClientUpload]) {}
}

/// A file in the app's folder, rewritten at each change. It keeps the account of each purchase.
struct DefaultsList: UnsentList {
  let found: [ClientUpload]
  private let path: String

  init(_ parts: AppParts, _ store: MockStoreClient) throws {
    path = Self.path(in: parts.options.container)
    found = UnsentFile.read(path)
  }

  static func path(in container: String) -> String { container + "/unsent.json" }

  func keep(_ list: [ClientUpload]) throws { try UnsentFile.write(list, path) }
}

/// One item of the keychain, rewritten at each change, without a limit. An app from before StoreKit 2: its proof is the
/// app receipt, and it sends under the account that is signed in at that moment.
struct KeychainList: UnsentList {
  let found: [ClientUpload]
  private let parts: AppParts
  private let store: MockStoreClient

  init(_ parts: AppParts, _ store: MockStoreClient) throws {
    (self.parts, self.store) = (parts, store)
    // An app that ignores the error takes a locked keychain for an empty one.
    found = parts.options.isVaultLocked ? [] : UnsentFile.read(Self.path(in: parts.options.vault))
  }

  /// Next to the vault's directory, whose files are the engine's items.
  static func path(in keychain: String) -> String { keychain + "-unsent.json" }

  func upload(of transaction: StoreTransaction, account: String?) async throws -> ClientUpload {
    var upload = ClientUpload(transaction, account: account)
    if let receipt = try await store.receipt() {
      upload.proof = ClientUpload.document(Payload(kind: ProofKind.appReceipt.rawValue, bytes: receipt))
    }
    return upload
  }

  func keep(_ list: [ClientUpload]) throws {
    guard !parts.options.isVaultLocked else { throw VaultError.locked }
    try UnsentFile.write(list, Self.path(in: parts.options.vault))
  }

  func account(for upload: ClientUpload) -> String? { parts.phone.user }
}

/// The retry state of an analytics library: a file in the app's folder. An event that has failed 100 times, or for 12
/// hours, is dropped.
struct SegmentRule: UnsentList {
  static let mostAttempts = 100
  static let longest: Int64 = 12 * 3_600_000

  let found: [ClientUpload]
  private let path: String

  init(_ parts: AppParts, _ store: MockStoreClient) throws {
    path = Self.path(in: parts.options.container)
    found = UnsentFile.read(path)
  }

  static func path(in container: String) -> String { container + "/events.json" }

  func keep(_ list: [ClientUpload]) throws { try UnsentFile.write(list, path) }

  func drops(attempts: Int, since: Timestamp, now: Timestamp) -> Bool {
    attempts >= Self.mostAttempts || now.milliseconds(since: since) >= Self.longest
  }
}

/// A list as JSON.
enum UnsentFile {
  /// Empty if there is no file, or none that can be read: then these apps start with an empty list.
  static func read(_ path: String) -> [ClientUpload] {
    guard let data = FileManager.default.contents(atPath: path) else { return [] }
    do {
      return try JSONDecoder().decode([ClientUpload].self, from: data)
    } catch {
      return []
    }
  }

  static func write(_ list: [ClientUpload], _ path: String) throws {
    try JSONEncoder().encode(list).write(to: URL(fileURLWithPath: path), options: .atomic)
  }
}
