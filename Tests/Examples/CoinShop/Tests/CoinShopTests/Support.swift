import CoinShop
import PurchaseSync
import PurchaseSyncTesting
import Testing

let products = [
  StoreProduct(id: "gems.100", kind: .consumable), StoreProduct(id: "coins.500", kind: .consumable),
  StoreProduct(id: "unlock", kind: .nonConsumable),
]

extension LabApp {
  /// The shop, as the app makes it at launch.
  func coinShop() throws -> CoinShop {
    try CoinShop(directory: directory, configuration: configuration) {
      Shop(store: store, backend: backend, configuration: $0, credentials: $1, fulfil: $2)
    }
  }

  /// The same for a company's backend. The device makes the orders.
  func companyShop() throws -> CoinShop {
    let company = CompanyBackend(http: backend)
    return try CoinShop(directory: directory, configuration: configuration) {
      Shop(store: store, backend: company, configuration: $0, credentials: $1, fulfil: $2)
    }
  }
}
