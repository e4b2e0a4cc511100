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
    try CoinShop(store: store, backend: backend, directory: directory, configuration: configuration)
  }

  /// The same for a company's backend. The device makes the orders.
  func companyShop() throws -> CoinShop {
    var configuration = self.configuration
    configuration.orderPolicy = .deviceOnly
    return try CoinShop(
      store: store, backend: BackendAdapter(CompanyBackend(http: backend)), directory: directory,
      configuration: configuration)
  }
}
