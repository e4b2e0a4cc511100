import Foundation
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting

/// In memory only.
struct FinishFirst: UnsentList {
  var found: [PlainUpload] { [] }

  init(_ parts: AppParts, _ store: MockStoreClient) throws {}

  func upload(of transaction: StoreTransaction, account: String?) -> PlainUpload {
    PlainUpload(transaction, account: account)
  }

  func keep(_ list: [PlainUpload]) {}
  func account(for upload: PlainUpload) -> String? { upload.account }
}

/// A file in the app's folder, rewritten at each change. Knows whose purchase it was.
struct DefaultsList: UnsentList {
  let found: [PlainUpload]
  private let path: String

  init(_ parts: AppParts, _ store: MockStoreClient) throws {
    path = Self.path(in: parts.options.container)
    found = UnsentFile.read(path)
  }

  static func path(in container: String) -> String { container + "/unsent.json" }

  func upload(of transaction: StoreTransaction, account: String?) -> PlainUpload {
    PlainUpload(transaction, account: account)
  }

  func keep(_ list: [PlainUpload]) throws { try UnsentFile.write(list, path) }
  func account(for upload: PlainUpload) -> String? { upload.account }
}

/// One item of the keychain, rewritten at each change, without a bound. Of the time of the app receipt: that is its
/// proof, and the account is whoever is signed in when it is sent.
struct KeychainList: UnsentList {
  let found: [PlainUpload]
  private let parts: AppParts
  private let store: MockStoreClient

  init(_ parts: AppParts, _ store: MockStoreClient) throws {
    (self.parts, self.store) = (parts, store)
    // A locked keychain cannot be told from an empty one, by those who do not look at the error.
    found = parts.options.isVaultLocked ? [] : UnsentFile.read(Self.path(in: parts.options.vault))
  }

  /// Beside the items of the engine's vault.
  static func path(in keychain: String) -> String { keychain + "-unsent.json" }

  func upload(of transaction: StoreTransaction, account: String?) async throws -> PlainUpload {
    var upload = PlainUpload(transaction, account: account)
    if let receipt = try await store.receipt() {
      upload.proof = PlainUpload.document(Proof(kind: ProofKind.appReceipt.rawValue, bytes: receipt))
    }
    return upload
  }

  func keep(_ list: [PlainUpload]) throws {
    guard !parts.options.isVaultLocked else { throw VaultError.locked }
    try UnsentFile.write(list, Self.path(in: parts.options.vault))
  }

  func account(for upload: PlainUpload) -> String? { parts.phone.user }
}

/// A list as JSON.
enum UnsentFile {
  /// Nothing where there is no file, or none that can be read: these apps begin anew then.
  static func read(_ path: String) -> [PlainUpload] {
    guard let data = FileManager.default.contents(atPath: path) else { return [] }
    do {
      return try JSONDecoder().decode([PlainUpload].self, from: data)
    } catch {
      return []
    }
  }

  static func write(_ list: [PlainUpload], _ path: String) throws {
    try JSONEncoder().encode(list).write(to: URL(fileURLWithPath: path), options: .atomic)
  }
}
