import PurchaseQueue
import PurchaseSyncTesting
import TestSupport

/// A folder with the file of a mock server.
struct ServerFolder {
  let directory: TemporaryDirectory
  let path: String

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.path("mock.sqlite")
  }

  func server(
    products: [StoreProduct] = Sample.products, keepsStore: Bool = true, at moment: Timestamp = Sample.now
  ) throws -> MockServer {
    try MockServer(
      databasePath: path, products: products, bundleID: Sample.bundleID, keepsStore: keepsStore,
      now: { moment })
  }
}
