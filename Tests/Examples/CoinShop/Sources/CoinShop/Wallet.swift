import Foundation
import PurchaseSync

/// The coins of each account, in a file.
///
/// An outcome comes again after a kill, so coins and the keys that are credited change together: in one file that is
/// replaced as a whole. When `take` returns, the file is on the disk.
///
/// It is the wallet of one phone. A purchase that one phone could not finish is reported to the account's other phones
/// too, and each wallet credits it. Coins that several phones share belong on the backend: then `fulfil` only asks for
/// the new balance.
package actor Wallet {
  struct Page: Codable {
    var coins = 0
    /// Of each purchase: how many coins it gives now.
    var credits: [String: Int] = [:]
    /// Of each purchase: the product that it gives now.
    var owned: [String: String] = [:]
  }

  /// The file does not say what was bought. The outcome comes again, and support can look.
  struct UnknownPurchase: Error {}

  private let path: String
  private var pages: [String: Page] = [:]

  package init(path: String) throws {
    self.path = path
    guard let data = FileManager.default.contents(atPath: path) else { return }
    pages = try JSONDecoder().decode([String: Page].self, from: data)
  }

  package func coins(of account: String) -> Int { pages[account]?.coins ?? 0 }
  package func owns(_ product: String, _ account: String) -> Bool {
    pages[account]?.owned.values.contains(product) ?? false
  }

  /// The latest outcome of a purchase decides what it gives: all, the part that was not refunded, or nothing. The refund
  /// may be reversed, so nothing is credited once and for all.
  package func take(_ outcome: Outcome) throws {
    guard outcome.isFulfilled || outcome.verdict == .refunded else { return }
    guard let product = outcome.purchase?.productID,
      let coins = outcome.amount(perUnit: CoinShop.products[product, default: 0])
    else { throw UnknownPurchase() }
    let (account, key) = (outcome.account ?? "this device", outcome.key.rawValue)
    var pages = self.pages
    var page = pages[account] ?? Page()
    page.coins += coins - (page.credits[key] ?? 0)
    page.credits[key] = coins
    page.owned[key] = outcome.unitsHeld ?? 0 > 0 ? product : nil
    pages[account] = page
    try write(pages)
    self.pages = pages
  }

  private func write(_ pages: [String: Page]) throws {
    let new = URL(fileURLWithPath: path + ".new")
    try JSONEncoder().encode(pages).write(to: new)
    let file = try FileHandle(forWritingTo: new)
    try file.synchronize()
    try file.close()
    guard rename(new.path, path) == 0 else { throw CocoaError(.fileWriteUnknown) }
  }
}
