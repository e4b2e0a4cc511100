import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync
import PurchaseSyncTesting
import Testing

/// The examples of the article *Migrating from a home-made queue*.
@Suite struct OldListTests {
  private static let receipt = ForgedAppReceipt(
    bundleID: "com.example",
    purchases: ["1", "2"].map { ForgedPurchase(transactionID: $0, productID: "gems") }
  ).bytes()
  private static let list = [
    OldItem(receipt: Data(receipt), transaction: "1", user: "alice", order: "order-7"),
    OldItem(receipt: Data("gibberish".utf8), transaction: "9", user: "alice", order: nil),
    OldItem(receipt: Data(receipt), transaction: "2", user: "bob", order: nil),
  ]

  private func with(_ body: (SyncConfiguration) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.path + "/OldList-" + UUID().uuidString
    defer {
      do {
        try FileManager.default.removeItem(atPath: folder)
      } catch {
        Issue.record(error, "the temporary directory stays behind")
      }
    }
    try body(
      SyncConfiguration(path: folder + "/queue.sqlite", vault: DirectoryVault(directory: folder + "/vault")))
  }

  private func keys(_ configuration: SyncConfiguration) throws -> [String] {
    try QueueFile(path: configuration.path, now: Timestamp.wallClock()).allEntries().map(\.key.rawValue)
  }

  @Test func `a list in the user defaults moves into the queue, and what is unreadable stays`() throws {
    try with { configuration in
      let suite = "OldList-" + UUID().uuidString
      let defaults = try #require(UserDefaults(suiteName: suite))
      defer { defaults.removePersistentDomain(forName: suite) }
      #expect(try moveList(of: defaults, into: configuration).isEmpty)
      defaults.set(try JSONEncoder().encode(Self.list), forKey: "unsentReceipts")
      let kept = try moveList(of: defaults, into: configuration)
      #expect(kept.map(\.id) == ["1"] && kept.map(\.reason) == [.unreadable])
      let left = try #require(defaults.data(forKey: "unsentReceipts"))
      #expect(try JSONDecoder().decode([OldItem].self, from: left) == [Self.list[1]])
      #expect(try keys(configuration) == ["Sandbox/1", "Sandbox/2"])
    }
  }

  @Test func `a list in the keychain moves, and a kill before its removal takes nothing twice`() throws {
    try with { configuration in
      let keychain = Keychain()
      keychain.data = try JSONEncoder().encode(Self.list)
      keychain.isBroken = true
      // The write that would remove the items fails as a kill would: the list stays as it was.
      #expect(throws: Keychain.Failure.self) { try moveList(of: keychain, into: configuration) }
      #expect(try keys(configuration).count == 2)
      keychain.isBroken = false
      #expect(try moveList(of: keychain, into: configuration).count == 1)
      #expect(try keys(configuration).count == 2)
      let left = try #require(keychain.data)
      #expect(try JSONDecoder().decode([OldItem].self, from: left) == [Self.list[1]])
    }
  }

  @Test func `a list that cannot be moved holds up no sale`() async throws {
    try await BuyingFixture.with { fixture in
      let suite = "OldList-" + UUID().uuidString
      let defaults = try #require(UserDefaults(suiteName: suite))
      defer { defaults.removePersistentDomain(forName: suite) }
      defaults.set(Data("no list".utf8), forKey: "unsentReceipts")
      var lines: [String] = []
      let shop = openShop(
        moving: defaults, into: try fixture.configuration(), store: fixture.store, backend: fixture.transport,
        credentials: { "token-" + $0.account }, fulfil: { _ in }, log: { lines.append($0) })
      #expect(lines.count == 1 && lines[0].hasPrefix("the old list is not moved"))
      #expect(defaults.data(forKey: "unsentReceipts") == Data("no list".utf8))
      let sale = try await shop.purchase("gems", for: "alice")
      #expect(sale.isFulfilled)
      await shop.close()
    }
  }

  @Test func `a list that is no list is left alone`() throws {
    try with { configuration in
      let keychain = Keychain()
      keychain.data = Data("no list".utf8)
      #expect(throws: DecodingError.self) { try moveList(of: keychain, into: configuration) }
      #expect(keychain.data == Data("no list".utf8))
      try FileManager.default.createDirectory(
        atPath: URL(fileURLWithPath: configuration.path).deletingLastPathComponent().path,
        withIntermediateDirectories: true)
    }
  }
}

private final class Keychain: OldKeychain {
  struct Failure: Error {}
  var data: Data?
  var isBroken = false

  func data(named name: String) -> Data? { data }
  func store(_ data: Data, named name: String) throws {
    guard !isBroken else { throw Failure() }
    self.data = data
  }
}
