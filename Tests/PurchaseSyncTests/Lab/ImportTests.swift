import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// An app had a queue of its own, and an update brings the engine.
@Suite struct ImportTests {
  /// Purchases of the earlier version: paid, not sent, and not finished.
  private func paid(_ count: Int, _ fixture: BuyingFixture) async throws -> [EarlierPurchase] {
    var old: [EarlierPurchase] = []
    for number in 0..<count {
      let transaction = try await fixture.store.pay(product: "gems", quantity: 1, accountToken: nil)
      old.append(
        EarlierPurchase(id: "item-\(number)", document: transaction.proof.bytes, account: "alice"))
    }
    return old
  }

  /// Opens an engine and waits until nothing is left to do.
  private func deliver(_ fixture: BuyingFixture, _ configuration: SyncConfiguration) async throws {
    let engine = try await fixture.open(configuration)
    try await until {
      for outcome in try await engine.snapshot().outcomes { try await engine.confirm(outcome) }
      return try await engine.snapshot() == SyncSnapshot()
    }
    await engine.shutdown()
  }

  private func entries(_ configuration: SyncConfiguration) throws -> [Entry] {
    try QueueFile(path: configuration.path, now: Timestamp.wallClock()).allEntries()
  }

  // MARK: Nothing is lost, nothing is taken twice

  @Test func `a list of an earlier version is credited to its accounts, and finished`() async throws {
    try await BuyingFixture.with { fixture in
      let configuration = try fixture.configuration()
      var old = try await paid(2, fixture)
      old[1].account = "bob"
      let report = try SyncEngine.importPurchases(old, into: configuration)
      #expect(report.taken == ["item-0", "item-1"] && report.kept.isEmpty)
      try await deliver(fixture, configuration)
      let log = try fixture.server.snapshot()
      #expect(
        Set(log.credits.map(\.owner)) == [.account("alice"), .account("bob")] && log.doubledCredits == 0)
      #expect(!log.charges.contains { !$0.isFinished })
    }
  }

  /// The decoder of any document shows what it can read of such a proof; the import takes only whole proofs.
  @Test func `a signed transaction with line breaks is taken, and one without its product is kept`()
    async throws
  {
    try await BuyingFixture.with { fixture in
      let configuration = try fixture.configuration()
      let transaction = try await fixture.store.pay(product: "gems", quantity: 1, accountToken: nil)
      var lines: [UInt8] = []
      for (index, octet) in transaction.proof.bytes.enumerated() {
        lines += index % 64 == 63 ? [octet, 0x0D, 0x0A] : [octet]
      }
      let payload = Base64URL.encode(
        Data(#"{"transactionId":"7","bundleId":"b","purchaseDate":1,"environment":"Sandbox"}"#.utf8))
      let old = [
        EarlierPurchase(id: "lines", document: lines + [0x0A], account: "alice"),
        EarlierPurchase(id: "part", document: Array("e30.\(payload).e30".utf8), account: "alice"),
      ]
      let report = try SyncEngine.importPurchases(old, into: configuration)
      #expect(report.taken == ["lines"] && report.kept.map(\.reason) == [.unreadable])
      #expect(try entries(configuration).count == 1)
      try await deliver(fixture, configuration)
      #expect(try fixture.server.snapshot().credits.map(\.owner) == [.account("alice")])
    }
  }

  @Test func `an order of the old list is fulfilled`() async throws {
    try await BuyingFixture.with { fixture in
      let configuration = try fixture.configuration()
      let before = try await fixture.open(try fixture.configuration("earlier"))
      let order = try await before.begin(product: "gems", account: "alice")
      await before.shutdown()
      var old = try await paid(1, fixture)
      old[0].orderNumber = order.number
      #expect(try SyncEngine.importPurchases(old, into: configuration).taken == ["item-0"])
      #expect(try entries(configuration).map(\.orderNumber) == [order.number])
      try await deliver(fixture, configuration)
      let credits = try fixture.server.snapshot().credits
      #expect(credits.map(\.owner) == [.account("alice")] && credits.map(\.orderNumber) == [order.number])
    }
  }

  /// The old list is removed after the import, so at each of these moments all of it is still there.
  @Test func `after a kill at any moment the same list is imported again, and credited once`() async throws {
    try await BuyingFixture.with { fixture in
      let old = try await paid(2, fixture)
      var configuration = try fixture.configuration()
      let place = URL(fileURLWithPath: configuration.path).deletingLastPathComponent()
      let images = Locked<[SyncConfiguration]>([])
      let failures = Locked<[String]>([])
      let plain = configuration
      configuration.checkpoint = { [directory = fixture.directory] point in
        images.withLock { images in
          let image = URL(fileURLWithPath: directory + "/image-\(images.count)")
          do {
            try FileManager.default.copyItem(at: place, to: image)
          } catch {
            failures.withLock { $0.append("\(point): \(error)") }
          }
          var killed = plain
          killed.path = image.path + "/queue.sqlite"
          images.append(killed)
        }
      }
      #expect(try SyncEngine.importPurchases(old, into: configuration).taken.count == 2)
      #expect(failures.value.isEmpty && images.value.count >= 6)
      for killed in images.value {
        #expect(try SyncEngine.importPurchases(old, into: killed).taken.count == 2)
        #expect(try entries(killed).count == 2)
      }
      try await deliver(fixture, plain)
      let log = try fixture.server.snapshot()
      #expect(log.credits.count == 2)
      // The kill came after the delivery: the list is still there at the next launch.
      let uploads = log.requests["POST /v1/receipts"]
      #expect(try SyncEngine.importPurchases(old, into: plain).taken.count == 2)
      try await deliver(fixture, plain)
      let after = try fixture.server.snapshot()
      #expect(after.credits.count == 2 && after.doubledCredits == 0)
      #expect(after.requests["POST /v1/receipts"] == uploads)
    }
  }

  @Test func `a list as long as the limit of entries is taken whole, for its accounts, and one more is not`()
    async throws
  {
    try await BuyingFixture.with { fixture in
      var configuration = try fixture.configuration()
      let old = try await paid(5, fixture)
      configuration.limits.entries = 4
      let report = try SyncEngine.importPurchases(old, into: configuration)
      #expect(report.taken.count == 4 && report.kept.map(\.reason) == [.queueFull])
      configuration.limits.entries = 5
      #expect(try SyncEngine.importPurchases(old, into: configuration).taken.count == 5)
      try await deliver(fixture, configuration)
      let credits = try fixture.server.snapshot().credits
      #expect(credits.count == 5 && credits.allSatisfy { $0.owner == .account("alice") })
    }
  }

  @Test func `what the store brought before the list stays in it, as the only record of its buyer`()
    async throws
  {
    try await BuyingFixture.with { fixture in
      let configuration = try fixture.configuration()
      let old = try await paid(1, fixture)
      let engine = try await fixture.open(configuration)
      try await until { try fixture.server.snapshot().credits.count == 1 }
      try await fixture.deliverAll(engine)
      await engine.shutdown()
      let report = try SyncEngine.importPurchases(old, into: configuration)
      #expect(report.taken == [] && report.kept.map(\.reason) == [.ownerDiffers])
    }
  }

  @Test func `what does not fit stays in the list, and is taken when there is capacity`() async throws {
    try await BuyingFixture.with { fixture in
      var configuration = try fixture.configuration()
      var old = try await paid(3, fixture)
      // The store does not list it any more: the old list is its only place.
      _ = try await fixture.store.finish(transactionIDs: [try old[2].transactions()[0].transactionID])
      let sizes = try old.map { try $0.transactions()[0].proof.bytes.count }
      configuration.limits.totalBytes = sizes[0] + sizes[1] + sizes[2] / 2
      let first = try SyncEngine.importPurchases(old, into: configuration)
      #expect(first.taken == ["item-0", "item-1"] && first.kept.map(\.reason) == [.queueFull])
      old.removeAll { first.taken.contains($0.id) }
      let engine = try await fixture.open(configuration)
      try await until { try await engine.snapshot().outcomes.count >= 2 }
      try await engine.confirm(all: try await engine.snapshot().outcomes)
      await engine.shutdown()
      #expect(try SyncEngine.importPurchases(old, into: configuration).taken == ["item-2"])
      try await deliver(fixture, configuration)
      let log = try fixture.server.snapshot()
      #expect(log.credits.count == 3 && log.doubledCredits == 0)
    }
  }

  @Test func `a list that is imported beside an open engine is delivered by it`() async throws {
    try await BuyingFixture.with { fixture in
      let configuration = try fixture.configuration()
      // Finished by the earlier version, so that the store does not list it.
      let transaction = try await fixture.store.pay(product: "gems", quantity: 1, accountToken: nil)
      _ = try await fixture.store.finish(transactionIDs: [transaction.transactionID])
      let engine = try await fixture.open(configuration)
      let item = EarlierPurchase(id: "x", document: transaction.proof.bytes, account: "alice")
      #expect(try SyncEngine.importPurchases([item], into: configuration).taken == ["x"])
      try await engine.wake(.foreground)
      try await until { try await engine.snapshot().outcomes.count == 1 }
      #expect(try fixture.server.snapshot().credits.map(\.owner) == [.account("alice")])
      await engine.shutdown()
    }
  }

  @Test(arguments: [1, 2, 3].flatMap { layers in [false, true].map { (layers, $0) } })
  func `a receipt is taken out of the base64 and the JSON string in which a list kept it`(
    layers: Int, isString: Bool
  ) async throws {
    var document = Data(Self.receipt)
    for _ in 0..<layers { document = document.base64EncodedData() }
    if isString { document = Data(JSONValue.string(String(decoding: document, as: UTF8.self)).text.utf8) }
    try await BuyingFixture.with { [document] fixture in
      let configuration = try fixture.configuration()
      let item = EarlierPurchase(id: "x", document: Array(document), transactionID: "2", account: "alice")
      #expect(try SyncEngine.importPurchases([item], into: configuration).taken == ["x"])
      #expect(try entries(configuration).map(\.key.rawValue) == ["Sandbox/2"])
    }
  }

  // MARK: What is not taken

  private static let receipt = ForgedAppReceipt(
    bundleID: "com.example",
    purchases: ["1", "2"].map { ForgedPurchase(transactionID: $0, productID: "gems") }
  ).bytes()

  /// Signed by the store, and no purchase.
  private static let renewal = Array(
    "e30.\(Base64URL.encode(Data(#"{"productId":"gems","autoRenewStatus":1}"#.utf8))).e30".utf8)

  /// What an item is that cannot be taken, and why.
  private static var unfit: [(EarlierPurchase, ImportReport.Reason)] {
    [
      (EarlierPurchase(id: "x", document: Array("gibberish".utf8), account: "a"), .unreadable),
      (EarlierPurchase(id: "x", document: [], account: "a"), .unreadable),
      (EarlierPurchase(id: "x", document: Array(#"{"status":0}"#.utf8), account: "a"), .unreadable),
      (EarlierPurchase(id: "x", document: renewal, account: "a"), .unreadable),
      (EarlierPurchase(id: "x", document: receipt, transactionID: "3", account: "a"), .transactionMissing),
      (
        EarlierPurchase(id: "x", document: ForgedAppReceipt(bundleID: "b").bytes(), account: "a"),
        .transactionMissing
      ),
      (EarlierPurchase(id: "x", document: receipt, account: "a", orderNumber: "7"), .orderAmbiguous),
      (
        EarlierPurchase(
          id: "x", document: receipt, transactionID: "1", account: "a",
          orderNumber: String(repeating: "7", count: 9_000)), .refused
      ),
    ]
  }

  @Test(arguments: unfit)
  func `an item that cannot be taken is kept and reported, and holds up no other`(
    item: EarlierPurchase, reason: ImportReport.Reason
  ) async throws {
    try await BuyingFixture.with { fixture in
      let configuration = try fixture.configuration()
      let good = EarlierPurchase(
        id: "good", document: Self.receipt, transactionID: "2", account: "alice")
      let report = try SyncEngine.importPurchases([item, good], into: configuration)
      #expect(report.taken == ["good"] && report.kept.map(\.id) == ["x"])
      #expect(report.kept.map(\.reason) == [reason])
      let held = try entries(configuration).map(\.key.rawValue)
      #expect(held == ["Sandbox/2"])
    }
  }

  @Test func `a receipt in base64 without a transaction's id is taken whole`() async throws {
    try await BuyingFixture.with { fixture in
      let configuration = try fixture.configuration()
      let text = Array(Data(Self.receipt).base64EncodedString().utf8)
      let item = EarlierPurchase(id: "x", document: text, account: "alice")
      #expect(try SyncEngine.importPurchases([item], into: configuration).taken == ["x"])
      let entries = try entries(configuration)
      #expect(entries.map(\.lane) == [.account("alice"), .account("alice")])
      // Both share the receipt, as bytes.
      #expect(Set(entries.flatMap(\.payloads)).count == 1)
    }
  }

  @Test func `a document that the queue would only name is not taken`() async throws {
    try await BuyingFixture.with { fixture in
      var configuration = try fixture.configuration()
      configuration.limits.payloadBytes = Self.receipt.count - 1
      let item = EarlierPurchase(id: "x", document: Self.receipt, transactionID: "1", account: "alice")
      let report = try SyncEngine.importPurchases([item], into: configuration)
      #expect(report.taken.isEmpty && report.kept.map(\.reason) == [.tooLong])
      #expect(try entries(configuration).isEmpty)
    }
  }

  @Test func `a second transaction for one order is refused`() async throws {
    try await BuyingFixture.with { fixture in
      let configuration = try fixture.configuration()
      let engine = try await fixture.open(configuration)
      let order = try await engine.begin(product: "gems", account: "alice")
      try await engine.receive(try await fixture.pay(order), for: order)
      await engine.shutdown()
      let item = EarlierPurchase(
        id: "x", document: Self.receipt, transactionID: "1", account: "alice", orderNumber: order.number)
      let report = try SyncEngine.importPurchases([item], into: configuration)
      #expect(report.taken.isEmpty && report.kept.map(\.reason) == [.refused])
    }
  }

  @Test func `an item stays until the vault holds it`() async throws {
    try await BuyingFixture.with { fixture in
      let old = try await paid(1, fixture)
      let locked = try fixture.configuration("phone", vault: LockedVault())
      let report = try SyncEngine.importPurchases(old, into: locked)
      #expect(report.taken.isEmpty && report.kept.map(\.reason) == [.unprotected])
      let vault = DirectoryVault(directory: fixture.directory + "/vault")
      let open = try fixture.configuration("phone", vault: vault)
      #expect(try SyncEngine.importPurchases(old, into: open).taken == ["item-0"])
      #expect(try entries(open).map(\.isUnprotected) == [false])
    }
  }

  // MARK: Whose it is

  @Test func `a purchase that waits for the device stays the device's, and gets its order`() async throws {
    try await BuyingFixture.with { fixture in
      let configuration = try fixture.configuration()
      let plain = EarlierPurchase(id: "x", document: Self.receipt, transactionID: "1", account: nil)
      _ = try SyncEngine.importPurchases([plain], into: configuration)
      var later = plain
      (later.account, later.orderNumber) = ("alice", "order-7")
      #expect(try SyncEngine.importPurchases([later], into: configuration).taken == ["x"])
      let entry = try #require(try entries(configuration).first)
      #expect(entry.lane == .device && entry.orderNumber == "order-7")
    }
  }

  @Test func `a purchase that waits for one account is not another's because a list says so`() async throws {
    try await BuyingFixture.with { fixture in
      let configuration = try fixture.configuration()
      var item = EarlierPurchase(id: "x", document: Self.receipt, transactionID: "1", account: "alice")
      _ = try SyncEngine.importPurchases([item], into: configuration)
      (item.account, item.orderNumber) = ("bob", "order-8")
      let report = try SyncEngine.importPurchases([item], into: configuration)
      // The list is the only record of bob.
      #expect(report.taken == [] && report.kept.map(\.reason) == [.ownerDiffers])
      let entry = try #require(try entries(configuration).first)
      #expect(entry.lane == .account("alice") && entry.orderNumber == nil)
    }
  }

  @Test func `the list says for whom it is, and evidence says so`() async throws {
    let transaction = try EarlierPurchase(
      id: "x", document: Self.receipt, transactionID: "1", account: "alice"
    ).transactions()[0]
    let item = EarlierPurchase(id: "x", transaction: transaction, account: "alice", orderNumber: "order-7")
    var match = OrderMatch(
      kind: .none, lane: .device, transactionClass: .purchase, evidence: [.noOpenOrder])
    let told = match.imported(as: item, known: nil)
    #expect(told.orderNumber == "order-7" && told.lane == .account("alice") && told.evidence == [.imported])
    for proof in [MatchEvidence.ownerByToken, .ownerByOriginal] {
      (match.lane, match.evidence) = (.account("bob"), [proof])
      #expect(match.imported(as: item, known: nil) == match)
    }
    match.kind = .bound(orderNumber: "order-1")
    #expect(match.imported(as: item, known: nil).orderNumber == "order-1")
  }

  // MARK: Errors and texts

  @Test func `if the file cannot be opened, nothing is reported as taken`() async throws {
    try await BuyingFixture.with { fixture in
      let old = try await paid(1, fixture)
      var configuration = try fixture.configuration()
      configuration.path = fixture.directory + "/fixture.sqlite/queue.sqlite"
      #expect(throws: SyncError.self) { try SyncEngine.importPurchases(old, into: configuration) }
    }
  }

  @Test func `no description shows a document`() {
    let item = EarlierPurchase(id: "x", document: Array("secret".utf8), account: "alice")
    var text = ""
    dump(item, to: &text)
    #expect(!text.contains("115") && !text.contains("secret") && "\(item)" == "x")
  }
}

/// A keychain before the first unlock since the start.
private struct LockedVault: QueueVault {
  var itemBytes: Int { 16 << 10 }
  func store(_ item: VaultItem) throws(VaultError) { throw .locked }
  func remove(named name: String) throws(VaultError) { throw .locked }
  func list() throws(VaultError) -> [String] { throw .locked }
  func item(named name: String) throws(VaultError) -> VaultItem? { throw .locked }
}
