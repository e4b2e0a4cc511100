import CoinShop
import Foundation
import PurchaseSync
import PurchaseSyncTesting

/// A shop on the command line, next to `purchase-simulator serve`. Each directory is a phone of its own.
@main
struct Main {
  static let help = "sign-in NAME, sign-out, list, buy PRODUCT, restore, balance, retry, help, quit"

  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 3, let base = URL(string: arguments[1]) else {
      print("usage: coin-shop URL DIRECTORY, with the URL that purchase-simulator serve prints")
      exit(2)
    }
    let directory = arguments[2]
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let configuration = SyncConfiguration(path: directory + "/purchases.sqlite")
    let shop = try CoinShop(directory: directory, configuration: configuration) {
      Shop(
        store: MockStoreClient(base: base, storeAccount: "apple-1"), backend: URLSessionTransport(base: base),
        configuration: $0, credentials: $1, fulfil: $2)
    }
    print(help)
    while let line = readLine(), line != "quit" {
      let words = line.split(separator: " ").map(String.init)
      do {
        print(try await answer(to: words.first ?? "help", words.dropFirst().first ?? "", shop))
      } catch {
        print(error.localizedDescription)
      }
    }
    await shop.shop.close()
  }

  static func answer(to command: String, _ name: String, _ shop: CoinShop) async throws -> String {
    switch command {
    case "sign-in": try await shop.signIn(name)
    case "sign-out": try await shop.signIn(nil)
    case "list": return await shop.list().joined(separator: "\n")
    case "buy": return try await shop.buy(name).message
    case "restore": return "\(try await shop.restore().count) restored"
    case "balance": return "\(await shop.balance()) coins"
    case "retry": try await shop.shop.retryNow()
    default: return help
    }
    return "done"
  }
}
