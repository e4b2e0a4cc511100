import Foundation
import PurchaseSync
import PurchaseSyncTesting

let address = CommandLine.arguments.dropFirst().first ?? "http://127.0.0.1:8080"
guard let server = URL(string: address) else { exit(64) }
let file = FileManager.default.temporaryDirectory.path + "/sample-\(UUID()).sqlite"

let shop = Shop(
  store: MockStoreClient(base: server, storeAccount: "apple-id"),  // StoreKitStore() in an app
  backend: URLSessionTransport(base: server),
  configuration: SyncConfiguration(path: file),  // an app leaves this out
  credentials: { request in "token-\(request.account)" },
  fulfil: { outcome in print("fulfil \(outcome.purchase?.productID ?? "?"): \(outcome.verdict.rawValue)") })

// One call makes the order, shows the payment sheet, keeps the receipt, and waits for the backend.
let sale = try await shop.purchase("gems.100", for: "alice")
print(sale.message)
await shop.close()
