import Foundation
import PurchaseSync

/// A shop that sells coins. One account at a time is signed in.
package struct CoinShop: Sendable {
  /// How many coins each product is; *unlock* is bought once and owned.
  package static let products = ["gems.100": 100, "coins.500": 500, "unlock": 0]

  package let shop: Shop
  package let wallet: Wallet
  private let session: Session

  /// - Parameters:
  ///   - directory: Where the shop keeps its files.
  ///   - fulfilling: What happens with an outcome: the wallet takes it.
  ///   - make: Makes the shop, with its store and its backend.
  package init(
    directory: String, configuration: SyncConfiguration,
    fulfilling: (Wallet) -> Shop.Fulfilment = CoinShop.credit,
    make: (SyncConfiguration, @escaping CredentialSource, @escaping Shop.Fulfilment) -> Shop
  ) throws {
    let session = Session(path: directory + "/account")
    (wallet, self.session) = (try Wallet(path: directory + "/wallet.json"), session)
    var configuration = configuration
    configuration.currentAccount = { session.account }
    let token = { @Sendable (request: CredentialRequest) in
      request.account == session.account ? "token-" + request.account : nil
    }
    shop = make(configuration, token, fulfilling(wallet))
  }

  package static func credit(_ wallet: Wallet) -> Shop.Fulfilment {
    { outcome in try await wallet.take(outcome) }
  }

  /// Signs an account in; nil signs out.
  package func signIn(_ account: String?) async throws {
    try session.set(account)
    try await shop.signedIn(as: account)
  }

  package func buy(_ product: String) async throws -> Sale {
    guard let account = session.account else { throw NotSignedIn() }
    return try await shop.purchase(product, for: account)
  }

  /// Asks the store what was bought before, on another phone or before a reinstall. Only when the user asked for it.
  package func restore() async throws -> [Outcome] {
    guard let account = session.account else { throw NotSignedIn() }
    return try await shop.restore(for: account)
  }

  /// What a screen shows: the products, then what the account has bought, and how far each purchase is.
  package func list() async -> [String] {
    var lines = Self.products.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value) coins" }
    let status = await shop.status()
    for item in status.purchases where item.account == session.account {
      lines.append("\(item.productID ?? "unknown"): \(item.stage.text)")
    }
    if let problem = status.problem { lines.append(problem.localizedDescription) }
    return lines
  }

  package func balance() async -> Int { await wallet.coins(of: session.account ?? "") }
}

/// No account is signed in.
package struct NotSignedIn: LocalizedError {
  package var errorDescription: String? { "Sign in first." }
}

/// The account that is signed in, also after a restart.
package struct Session: Sendable {
  let path: String

  package var account: String? {
    FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
      .flatMap { $0.isEmpty ? nil : $0 }
  }

  func set(_ account: String?) throws {
    try Data((account ?? "").utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
  }
}
