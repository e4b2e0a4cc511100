import Foundation
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting

/// What became of the purchases, counted from the parent's own log: never from what the app says of itself.
struct Score: Encodable {
  var scenario: String
  var client: String
  /// Charged transactions that were not settled as refunded or lapsed.
  var paid: Int
  /// Those of them with at least one credit.
  var granted: Int
  /// Paid, not credited, and nowhere left that could bring it back.
  var lost: Int
  /// Credits beyond one per transaction, and orders fulfilled twice.
  var doubled: Int
  /// Credits that are another account's than the order's.
  var wrongAccount: Int
  /// Still unfinished in the store.
  var unfinished: Int
  /// Not credited, but unfinished in the store, or in the queue or the vault.
  var pending: Int
  var seconds: Double

  init(scenario: String, client: Client, world: WorldSnapshot, device: ScenarioRun.Device, seconds: Double)
    throws
  {
    self.scenario = scenario
    self.client = client.rawValue
    self.seconds = (seconds * 1_000).rounded() / 1_000
    let tally = WorldTally(world, kept: try Self.kept(on: device))
    paid = tally.paid
    granted = tally.granted
    lost = tally.lost
    doubled = tally.doubled
    wrongAccount = tally.wrongAccount
    unfinished = tally.unfinished
    pending = tally.pending
  }

  /// Paid = granted, each to whom it belongs, and nothing lost, doubled or pending.
  var isClean: Bool {
    paid == granted && lost == 0 && doubled == 0 && pending == 0 && wrongAccount == 0
  }

  /// The transactions in the queue and in the vault, read after the app has ended.
  private static func kept(on device: ScenarioRun.Device) throws -> Set<String> {
    var kept: Set<String> = []
    let prefix = "entry."
    for name in try DirectoryVault(directory: device.keychain).list() where name.hasPrefix(prefix) {
      kept.insert(String(name.dropFirst(prefix.count)))
    }
    let path = ScenarioRun.Device.queue(in: device.container)
    if FileManager.default.fileExists(atPath: path) {
      let queue = try QueueFile(path: path, now: Timestamp.wallClock())
      for entry in try queue.allEntries() { kept.insert(entry.key.rawValue) }
    }
    return Set(kept.map { String($0.drop { $0 != "/" }.dropFirst()) })
  }
}
