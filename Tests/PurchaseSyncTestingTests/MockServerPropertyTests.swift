import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSync
import TestSupport
import Testing

@testable import PurchaseSyncTesting

/// Random scenarios, compared with models that are too simple to be wrong.
struct MockServerPropertyTests {
  /// The app receipt as a list of the purchases, written again at each purchase and refresh.
  private struct PaperReceipt {
    var bought: [(id: String, staysForEver: Bool, readings: Int)] = []
    var finished: Set<String> = []
    var file: [String] = []

    mutating func rewrite() {
      file = bought.filter { $0.staysForEver || !finished.contains($0.id) }.map(\.id)
    }

    mutating func read() -> [String] {
      let hidden = Set(bought.filter { $0.readings > 0 }.map(\.id))
      for index in bought.indices { bought[index].readings -= 1 }
      return file.filter { !hidden.contains($0) }
    }
  }

  @Test(arguments: LongTests.seeds(short: 4, long: 10))
  func `the app receipt equals a separately kept list`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var store = Sample.store()
    var paper = PaperReceipt()
    for _ in 0..<120 {
      switch Int.random(in: 0..<6, using: &random) {
      case 0, 1:
        let product = ["coins", "monthly"].randomElement(using: &random) ?? "coins"
        let readings = Int.random(in: 0...2, using: &random)
        store.faults.lackedPurchases = readings > 0 ? 1 : 0
        store.faults.lackingReadings = readings
        let id = try store.buy(product).transactionID
        paper.bought.append((id, product != "coins", readings))
        paper.rewrite()
      case 2:
        guard let id = paper.bought.randomElement(using: &random)?.id else { continue }
        try store.finish(transactionID: id)
        paper.finished.insert(id)
      case 3:
        let bytes = try #require(try store.refreshReceipt(storeAccount: "a", now: Sample.now))
        paper.rewrite()
        #expect(try AppReceipt(decoding: bytes).inApp.map(\.transactionID) == paper.read())
      default:
        #expect(try store.idsInReceipt() == paper.read())
      }
    }
  }

  /// All possible uploads of a purchase, in any order, by any account, with repetitions.
  @Test(arguments: LongTests.seeds(short: 6, long: 15))
  func `after any uploads, each transaction and each order is granted once, and to its account`(
    seed: UInt64
  )
    throws
  {
    var random = SplitMix64(seed: seed)
    var store = Sample.store()
    var backend = BackendFixture()
    let accounts = ["alice", "bob"]
    let device = UUID()
    var uploaders = accounts.map(Uploader.account)
    uploaders.append(.device(device))
    var purchases: [(record: StoreTransactionRecord, order: BackendOrder)] = []
    for index in 0..<6 {
      let account = accounts.randomElement(using: &random) ?? "alice"
      let order = try backend.order(account, key: "\(index)")
      purchases.append((try store.buy(token: order.accountToken), order))
    }
    let receipt = try store.proof(.appReceipt, of: purchases[0].record)
    var bindings: [TransactionKey: String] = [:]
    for step in 0..<80 {
      let now = Sample.now.adding(milliseconds: Int64(step))
      guard let (record, order) = purchases.randomElement(using: &random) else { continue }
      let proofs = [receipt, try store.proof(.signedTransaction, of: record), nil]
      let proof = proofs.randomElement(using: &random) ?? nil
      var claim = Sample.claim(for: record, match: .bound, order: order.number)
      var uploader = uploaders.randomElement(using: &random) ?? .account("alice")
      if Int.random(in: 0..<3, using: &random) == 0 {
        // The engine proposes in the order's own lane only.
        let candidates = purchases.map(\.order).filter { $0.account == order.account }.map(\.number)
        claim = Sample.claim(for: record, match: .proposed, candidates: candidates)
        uploader = .account(order.account)
      }
      let request = UploadRequest(device: device, proof: proof, claims: [claim])
      _ = backend.model.judge(request, from: uploader, now: now) { store.verify($0, now: now) }
      if step % 20 == 0 { _ = backend.model.adoptDevice(device, for: "alice", now: now) }
      for credit in backend.model.credits {
        let bound = bindings[credit.transaction]
        #expect(bound == nil || bound == credit.orderNumber)
        bindings[credit.transaction] = credit.orderNumber
        let owner = purchases.first { $0.record.transactionID == credit.transaction.transactionID }
        #expect(owner.map { .account($0.order.account) } == backend.model.owner(of: credit))
      }
    }
    // At last each account sends its own, and has it, from now or from before.
    for (record, order) in purchases {
      let proof = try store.proof(.signedTransaction, of: record)
      let claim = Sample.claim(for: record, match: .bound, order: order.number)
      let request = UploadRequest(device: device, proof: proof, claims: [claim])
      let now = Sample.now.adding(milliseconds: 80)
      _ = backend.model.judge(request, from: .account(order.account), now: now) { store.verify($0, now: now) }
    }
    let credited = Dictionary(grouping: backend.model.credits, by: \.transaction.transactionID)
    for (record, order) in purchases {
      #expect(credited[record.transactionID]?.map(\.orderNumber) == [order.number])
    }
    #expect(credited.count == purchases.count)
    #expect(backend.model.doubledCredits == 0)
  }
}
