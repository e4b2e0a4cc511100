// swift-tools-version: 6.2
import PackageDescription

let sync: [Target.Dependency] = [.product(name: "PurchaseSync", package: "purchase-sync")]
let testing: [Target.Dependency] = [.product(name: "PurchaseSyncTesting", package: "purchase-sync")]

// A shop as an app developer writes it: with the public interface only.
let package = Package(
  name: "coin-shop",
  platforms: [.iOS(.v16), .macOS(.v13)],
  dependencies: [.package(name: "purchase-sync", path: "../../..")],
  targets: [
    .target(name: "CoinShop", dependencies: sync),
    .executableTarget(name: "coin-shop", dependencies: ["CoinShop"] + sync + testing),
    // The server of a company, for the tests.
    .target(name: "Company", dependencies: ["CoinShop"] + sync + testing),
    .executableTarget(name: "coin-shop-kills", dependencies: ["CoinShop", "Company"] + sync + testing),
    .testTarget(name: "CoinShopTests", dependencies: ["CoinShop", "Company"] + sync + testing),
  ],
  swiftLanguageModes: [.v6]
)
