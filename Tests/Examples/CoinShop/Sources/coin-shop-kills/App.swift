import CoinShop
import Foundation
import PurchaseSync
import PurchaseSyncTesting

/// The process that is killed: three screens buy for ever, for one account.
struct App {
  let base: URL
  let directory: String
  let seed: UInt64
  let bug: Bug

  init(arguments: [String]) throws {
    guard let base = URL(string: arguments[0]), let seed = UInt64(arguments[2]),
      let bug = Bug(rawValue: arguments[3])
    else { throw Failure(description: "the app does not understand \(arguments)") }
    (self.base, directory, self.seed, self.bug) = (base, arguments[1], seed, bug)
  }

  func run() async throws {
    if bug == .forgets { try forget() }
    // A launch is shorter than the first wait of the usual back-off.
    let configuration = SyncConfiguration(
      path: directory + "/purchases.sqlite", retry: RetryPolicy().scaled(by: 100))
    let (base, bug) = (self.base, self.bug)
    let fulfilling = { (wallet: Wallet) -> Shop.Fulfilment in
      let credit = CoinShop.credit(wallet)
      return { outcome in
        guard bug == .early else {
          try await credit(outcome)
          return say("c")
        }
        Task {
          try await Task.sleep(for: .milliseconds(10))
          try await credit(outcome)
        }
      }
    }
    let shop = try CoinShop(directory: directory, configuration: configuration, fulfilling: fulfilling) {
      Shop(
        store: MockStoreClient(base: base, storeAccount: "apple-1"),
        backend: CompanyBackend(http: URLSessionTransport(base: base)), configuration: $0,
        waiting: .seconds(2), credentials: $1, fulfil: $2)
    }
    if seed == 0 { return try await finish(shop) }
    var random = SplitMix64(seed: seed)
    try await shop.signIn(Bool.random(using: &random) ? "alice" : "bob")
    say(".")
    await withTaskGroup(of: Void.self) { screens in
      for _ in 0..<3 {
        let own = SplitMix64(seed: random.next())
        screens.addTask { await buyForEver(shop, own) }
      }
    }
  }

  private func buyForEver(_ shop: CoinShop, _ random: SplitMix64) async {
    var random = random
    while true {
      let product = Bool.random(using: &random) ? "gems.100" : "coins.500"
      do {
        say(try await shop.buy(product).isFulfilled ? "+" : "-")
      } catch {
        say("!")
      }
    }
  }

  /// The last launch: both accounts get what they paid, until nothing is left.
  private func finish(_ shop: CoinShop) async throws {
    for account in ["alice", "bob"] {
      try await shop.signIn(account)
      try await shop.shop.retryNow()
      guard try await shop.shop.drain(until: .now + 60) else {
        throw Failure(description: "a minute was too short for what \(account) has paid")
      }
    }
    await shop.shop.close()
  }

  /// The wallet keeps its coins and forgets for what it has credited them.
  private func forget() throws {
    let file = URL(fileURLWithPath: directory + "/wallet.json")
    guard let data = FileManager.default.contents(atPath: file.path) else { return }
    var pages = try JSONDecoder().decode([String: SavedPage].self, from: data)
    for account in pages.keys { pages[account]?.credits = [:] }
    // A kill leaves the old page or the new one: what is planted is the forgetting alone.
    try JSONEncoder().encode(pages).write(to: file, options: .atomic)
  }
}

/// Writes a word for the trial, which counts them: `.` the launch begins to buy, `c` the wallet has an outcome that the
/// shop has not confirmed, and what a call returned: `+` fulfilled, `-` something else, `!` an error.
private func say(_ word: String) { FileHandle.standardOutput.write(Data(word.utf8)) }

/// A page of the wallet's file, read by the check without the wallet.
struct SavedPage: Codable {
  var coins: Int
  var credits: [String: Int]
  /// The product that each purchase gives now.
  var owned: [String: String]
}
