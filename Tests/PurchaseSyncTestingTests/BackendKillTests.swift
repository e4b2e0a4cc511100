import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSync
import TestSupport
import Testing

@testable import PurchaseSyncTesting

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A backend that is killed during requests and then gets the same requests again.
struct BackendKillTests {
  /// A run of requests: purchases, uploads (each twice, as after a lost answer), a renewal, a refund, an adoption.
  /// `beforeWrite` is called before each row and each commit.
  private static func run(path: String, beforeWrite: (() -> Void)?) throws -> BackendModel {
    let backend = try BackendStore(path: path, bundleID: Sample.bundleID, seed: 1)
    backend.beforeWrite = beforeWrite
    let now = Sample.now
    try backend.change {
      try $0.createOrder(
        OrderRequest(productID: "coins", quantity: 1), account: "alice", idempotencyKey: "k", now: now
      ).writes
    }
    let token = try backend.model().orders.first?.accountToken
    let device = UUID(uuidString: "00000000-0000-4000-8000-000000000001") ?? UUID()
    var store = Sample.store()
    let records = [
      try store.buy(token: token), try store.buy(), try store.buy("monthly"), try store.buy("pro", as: "b"),
    ]
    let uploaders: [Uploader] = [.account("bob"), .device(device), .account("alice"), .device(device)]
    for (record, uploader) in zip(records, uploaders) {
      // Receipts hold no account token; the order's owner is known by it.
      let proof = try store.proof(record.accountToken == nil ? .appReceipt : .signedTransaction, of: record)
      for _ in 0..<2 {
        let request = UploadRequest(device: device, proof: proof, claims: [Sample.claim(for: record)])
        try backend.change { model in
          model.judge(request, from: uploader, now: now, answers: { store.answer(to: $0, now: now) }).writes
        }
      }
    }
    try backend.change { $0.adoptDevice(device, for: "carol", now: now) }
    let later = now.adding(milliseconds: 30 * Sample.day - 5)
    _ = try store.renew(transactionID: records[2].transactionID, now: later)
    try store.refund(transactionID: records[1].transactionID, now: later)
    let questions = try backend.jobQuestions(at: later)
    try backend.change { model in
      model.finishJob(
        questions.map { (question: $0, answer: store.answer(to: $0.query, now: later)) }, now: later)
    }
    let lesson = Lesson(
      proof: nil,
      answer: store.answer(
        to: .transaction(environment: "Production", id: records[1].transactionID), now: later))
    try backend.change { $0.learn([lesson], source: .notification("REFUND"), now: later) }
    return try backend.model()
  }

  private struct Ending: Equatable {
    var credits: Set<TransactionKey>
    var reversals: Set<TransactionKey>
    var owners: [String: [String: Int]]

    init(_ model: BackendModel) {
      credits = Set(model.credits.map(\.transaction))
      reversals = Set(model.reversals.map(\.transaction))
      owners = [:]
      for account in ["alice", "bob", "carol"] {
        owners[account] = model.entitlements(account: account, now: Sample.now)
      }
    }
  }

  #if os(Linux) || os(macOS)
    @Test
    func `after a kill before any row or commit, repeated uploads are granted once`()
      async throws
    {
      let directory = try TemporaryDirectory()
      let count = Count()
      let whole = try Self.run(path: directory.path("whole.sqlite"), beforeWrite: { count.value += 1 })
      let ending = Ending(whole)
      #expect(whole.doubledCredits == 0 && whole.credits.count == 5 && count.value > 40)
      #expect(ending.owners == ["alice": ["coins": 1, "monthly": 1], "bob": [:], "carol": ["pro": 1]])
      // A long run kills at every step.
      for step in stride(from: 1, through: count.value, by: LongTests.count(short: 6, long: 3)) {
        let path = directory.path("killed-\(step).sqlite")
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, step = step as Int] in
          let count = Count()
          _ = try Self.run(path: path) {
            count.value += 1
            if count.value == step { kill(getpid(), SIGKILL) }
          }
        }
        let model = try Self.run(path: path, beforeWrite: nil)
        #expect(model.doubledCredits == 0)
        #expect(Ending(model) == ending, "killed at step \(step)")
        #expect(try BackendStore(path: path, bundleID: Sample.bundleID, seed: 1).model() == model)
      }
    }
  #endif
}

private final class Count {
  var value = 0
}
