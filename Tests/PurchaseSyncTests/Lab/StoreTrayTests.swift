import AppStoreReceipts
import PurchaseQueue
import Testing

@testable import PurchaseSync

@Suite struct StoreTrayTests {
  private static let full = SyncError.queue(.queueFull(.entries, needed: 65, allowed: 64))

  @Test func `copies of a long list stay within their limit, and a shared proof counts once`() {
    let half = StoreTray.Copies.mostBytes / 2
    let all = (0..<5).map { transaction("\($0)", [UInt8](repeating: UInt8($0), count: half)) }
    #expect(StoreTray.Copies(all, account: nil).transactions.map(\.transactionID) == ["0", "1"])
    let shared = (0..<5).map { transaction("\($0)", [UInt8](repeating: 7, count: half)) }
    #expect(StoreTray.Copies(shared, account: nil).transactions.count == 5)
    // One that is too long by itself is kept: the store would list it first again.
    let long = transaction("9", [UInt8](repeating: 9, count: 3 * half))
    #expect(StoreTray.Copies([long] + all, account: nil).transactions.map(\.transactionID) == ["9"])
  }

  @Test func `a transaction that arrives by itself leaves no copy`() {
    let all = ["1", "2", "1"].map { transaction($0, [1]) }
    var held = StoreTray.Copies(all, account: "apple-id")
    held.forget(all[0].key)
    #expect(held.transactions.map(\.transactionID) == ["2"])
    held.forget(all[1].key)
    #expect(held.transactions.isEmpty)
  }

  @Test func `a transaction that will never fit holds up no other`() {
    var intake = Intake(account: nil)
    intake.wasRefused(
      transaction("1", [1]), .queue(.queueFull(.textBytes, needed: 9_000, allowed: 8_192)))
    #expect(intake.left.isEmpty && intake.full == nil && intake.refused.map(\.key.rawValue).count == 1)
    let full = SyncError.queue(.queueFull(.entries, needed: 65, allowed: 64))
    intake.wasRefused(transaction("2", [1]), full)
    #expect(intake.left.map(\.transactionID) == ["2"] && intake.full == full)
  }

  private func transaction(_ id: String, _ proof: [UInt8]) -> StoreTransaction {
    StoreTransaction(
      environment: .production, transactionID: id, originalTransactionID: id, productID: "gems", quantity: 1,
      purchasedAt: midday, accountToken: nil, proof: Payload(kind: "signedTransaction", bytes: proof))
  }

  /// A tray with copies of these transactions: none of them had capacity.
  private func tray(keeping ids: [String]) -> StoreTray {
    var tray = StoreTray()
    var intake = tray.listed(for: "apple-id")
    for id in ids { intake.wasRefused(transaction(id, [1]), Self.full) }
    tray.keepsRest(of: intake)
    return tray
  }

  @Test func `copies are taken once, and what finds no capacity stays while others do`() throws {
    var tray = tray(keeping: ["1", "2", "3"])
    var taken = tray.takesCopies()
    var copies = try #require(taken)
    #expect(copies.transactions.map(\.transactionID) == ["1", "2", "3"])
    #expect(copies.intake.account == "apple-id")
    taken = tray.takesCopies()
    #expect(taken?.transactions == nil)
    copies.intake.took(key("1"))
    copies.intake.leaves(copies.transactions.dropFirst())
    tray.tookCopies(copies.intake)
    taken = tray.takesCopies()
    copies = try #require(taken)
    #expect(copies.transactions.map(\.transactionID) == ["2", "3"])
    copies.intake.leaves(copies.transactions)
    tray.tookCopies(copies.intake)
    taken = tray.takesCopies()
    #expect(taken?.transactions == nil, "nothing fits: the store is asked")
  }

  @Test func `a newer list, and a file that is closed, end the copies`() {
    var listed = tray(keeping: ["1"])
    _ = listed.listed(for: nil)
    let afterList = listed.takesCopies()
    #expect(afterList?.transactions == nil)
    var closed = tray(keeping: ["1"])
    closed.fileClosed()
    let afterClosing = closed.takesCopies()
    #expect(afterClosing?.transactions == nil)
  }

  private func isNewLack(_ tray: inout StoreTray) -> Bool { tray.lacksCapacity(for: key("1")) }

  @Test
  func `lack of capacity is published once, until the transaction is stored or the store has it no longer`() {
    var tray = StoreTray()
    #expect(isNewLack(&tray))
    #expect(!isNewLack(&tray))
    tray.stored([key("1")])
    #expect(isNewLack(&tray))
    tray.storeHoldsOnly([key("1")])
    #expect(!isNewLack(&tray))
    tray.storeHoldsOnly([key("2")])
    #expect(isNewLack(&tray))
    tray.restores([RestoredTransaction(transaction: transaction("1", [1]), isAsked: true)])
    tray.storeHoldsOnly([])
    #expect(!isNewLack(&tray), "it waits here")
  }

  @Test func `only a copy that was published for lack of capacity is older than an arrival`() {
    var tray = tray(keeping: ["1", "2"])
    _ = tray.lacksCapacity(for: key("1"))
    tray.arrives(key("1"))
    tray.arrives(key("2"))
    let copies = tray.takesCopies()
    #expect(copies?.transactions.map(\.transactionID) == ["2"])
  }

  @Test func `a list is tried once for each transaction, and costs no write when the queue is full`() throws {
    var intake = Intake(account: nil)
    func tries(_ id: String, isKnown: Bool, _ intake: inout Intake) throws -> Bool {
      try intake.tries(transaction(id, [1])) { () throws(QueueError) in isKnown }
    }
    #expect(try tries("1", isKnown: false, &intake))
    intake.wasRefused(transaction("1", [1]), Self.full)
    #expect(try !tries("2", isKnown: false, &intake))
    #expect(try tries("3", isKnown: true, &intake), "an update of a known one needs no capacity")
    #expect(intake.left.map(\.transactionID) == ["1", "2"])
    var held = Intake(account: nil, isHeld: true)
    #expect(try !tries("1", isKnown: true, &held), "a newer one has arrived")
    #expect(try tries("2", isKnown: false, &held))
    #expect(try !tries("2", isKnown: true, &held))
    held.took(key("2"))
    #expect(try tries("2", isKnown: true, &held), "another proof of one that was taken just now")
  }

  /// The failures of restored transactions, what stays for the next list, and what the caller gets.
  @Test(
    arguments: [
      (full, true, nil, full), (.queue(.queueFull(.textBytes, needed: 9, allowed: 8)), true, nil, nil),
      (.queue(.invalid(what: "key")), false, .queue(.invalid(what: "key")), nil),
      (.queue(.closed(path: "/")), true, .queue(.closed(path: "/")), nil),
    ] as [(SyncError, Bool, SyncError?, SyncError?)])
  func `a restored transaction that fails stays, unless it can never be stored`(
    error: SyncError, stays: Bool, failure: SyncError?, full: SyncError?
  ) {
    var intake = RestoreIntake()
    intake.failed(RestoredTransaction(transaction: transaction("1", [1]), isAsked: true), error)
    #expect(intake.left.count == (stays ? 1 : 0))
    #expect(intake.failure == failure)
    #expect(intake.full == full)
  }
}
