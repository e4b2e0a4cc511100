import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting

@testable import PurchaseSync

/// What an app got, in order.
final class OutcomeBook: Sendable {
  private let state = Locked<[Outcome]>([])
  var outcomes: [Outcome] { state.value }
  var products: [String] { outcomes.compactMap { $0.purchase?.productID } }
  func take(_ outcome: Outcome) { state.withLock { $0.append(outcome) } }
}

/// A lab with two kinds of coins.
enum ShopLab {
  static let gems = "gems.100"
  static let coins = "coins.500"

  static func run(
    seed: UInt64 = 0, _ body: @escaping @Sendable (AppLab) async throws -> Void
  ) async throws {
    try await AppLab.run(
      products: [StoreProduct(id: gems, kind: .consumable), StoreProduct(id: coins, kind: .consumable)],
      seed: seed, body)
  }

  /// One launch of one phone.
  static func launch(
    seed: UInt64 = 0, _ body: @escaping @Sendable (AppLab, LabApp) async throws -> Void
  ) async throws {
    try await run(seed: seed) { lab in
      try await lab.phone().launch { app in try await body(lab, app) }
    }
  }
}

extension LabPhone {
  /// Alice pays for gems, and the app is killed before the store's answer.
  func payAndDie() async throws {
    dies(.afterPayment)
    try await launch { app in
      _ = try await app.shop { _ in }.purchase(ShopLab.gems, for: "alice")
    }
  }
}

extension LabApp {
  /// Time of the lab.
  var sleep: @Sendable (Int64) async throws -> Void { configuration.system.sleep }

  /// A shop of an app that reports the foreground itself.
  func shop(
    store: (any SellingStore)? = nil, backend: (any BackendTransport)? = nil,
    waiting: Duration = .seconds(30),
    configuration: SyncConfiguration? = nil, credentials: CredentialSource? = nil,
    fulfil: @escaping Shop.Fulfilment
  ) -> Shop {
    Shop(
      store: store ?? self.store, backend: backend ?? self.backend,
      configuration: configuration ?? self.configuration, lifecycle: .explicit, waiting: waiting,
      credentials: credentials ?? { "token-" + $0.account }, fulfil: fulfil)
  }
}
