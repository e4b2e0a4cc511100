import Foundation
import PurchaseQueue
import PurchaseSync

/// A simulation counts accounts, products, orders and transactions; the machine needs names. These are short enough to
/// need no heap memory.
enum Names {
  static let accounts = ["alice", "bob", "carol"]
  static let lanes: [Lane] = [.device] + accounts.map(Lane.account)
  static let storeAccounts = ["apple-1", "apple-2", "apple-3"]
  static let products = ["gems", "coins", "plus", "pro"]
  /// A subscription of a bundle.
  static func member(_ member: Int, of bundle: Int) -> String {
    products[bundle] + (member == 0 ? ".a" : ".b")
  }
  /// How many units of a product are bought at a time: the store can refund some of them.
  static func units(of product: Int) -> Int { product == 1 ? 3 : 1 }
  static let environment = "Production"

  /// 0 for the device lane, else the account's number plus 1.
  static func lane(_ lane: Lane) -> Int {
    guard let name = lane.account else { return 0 }
    return (accounts.firstIndex(of: name) ?? -1) + 1
  }

  static func account(_ name: String) -> Int { accounts.firstIndex(of: name) ?? -1 }

  /// Transactions count from 1.
  static func id(_ transaction: Int) -> String { String(transaction + 1) }

  static func key(_ transaction: Int) -> EntryKey { EntryKey(rawValue: "Production/" + id(transaction)) }

  /// -1 for a key of no transaction of the simulation.
  static func transaction(_ key: EntryKey) -> Int { number(key.rawValue.utf8.dropFirst(11)) }

  /// The number of an id or an order; -1 for other text.
  static func number(_ digits: some Sequence<UInt8>) -> Int {
    var value = 0
    for digit in digits {
      guard digit >= 48, digit < 58, value < 1 << 30 else { return -1 }
      value = value * 10 + Int(digit - 48)
    }
    return value - 1
  }

  static func order(_ number: String) -> Int { self.number(number.utf8) }

  /// The token of an account, where all its orders have the same one.
  static func accountToken(_ account: Int) -> UUID { token(0xff00 + account) }

  /// The account token of an order: its number.
  static func token(_ order: Int) -> UUID {
    let (high, low) = (UInt8(truncatingIfNeeded: order >> 8), UInt8(truncatingIfNeeded: order))
    return UUID(uuid: (0, 0, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 1, high, low))
  }
}
