// swift-tools-version: 6.2
import PackageDescription

// The package of an embedder: it uses only the product PurchaseQueue of this repository.
let package = Package(
  name: "parcel-notes",
  platforms: [.iOS(.v16), .macOS(.v13)],
  dependencies: [.package(name: "purchase-sync", path: "../..")],
  targets: [
    .executableTarget(
      name: "parcel-notes",
      dependencies: [.product(name: "PurchaseQueue", package: "purchase-sync")]),
    .executableTarget(
      name: "event-outbox",
      dependencies: [.product(name: "PurchaseQueue", package: "purchase-sync")]),
  ],
  swiftLanguageModes: [.v6]
)
