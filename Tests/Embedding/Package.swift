// swift-tools-version: 6.2
import PackageDescription

// Somebody else's package: it has nothing of this repository but the product PurchaseQueue.
let package = Package(
  name: "parcel-notes",
  platforms: [.iOS(.v16), .macOS(.v13)],
  dependencies: [.package(name: "purchase-sync", path: "../..")],
  targets: [
    .executableTarget(
      name: "parcel-notes",
      dependencies: [.product(name: "PurchaseQueue", package: "purchase-sync")])
  ],
  swiftLanguageModes: [.v6]
)
