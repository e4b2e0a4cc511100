import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// What the outcomes of a purchase say that is refunded, in full or in part, and whose refund may be reversed.
@Suite struct RefundOutcomeTests {
  /// A wallet as the documentation asks for: the latest outcome of a key decides.
  private static func coins(after outcomes: [Outcome]) -> Double {
    var gives: [EntryKey: Double] = [:]
    for outcome in outcomes {
      let full = Double(100 * (outcome.purchase?.quantity ?? 0))
      gives[outcome.key] = outcome.isFulfilled ? full : full * (1 - (outcome.refundedShare ?? 1))
    }
    return gives.values.reduce(0, +)
  }

  @Test(arguments: [0, 1, 2])
  func `a refund that is reversed ends with the goods, though the app is killed in between`(kills: Int)
    async throws
  {
    try await ShopLab.run { lab in
      let (phone, book) = (lab.phone(), OutcomeBook())
      func launch(_ act: @escaping @Sendable (LabApp, Shop) async throws -> Void) async throws {
        try await phone.launch { app in
          let shop = app.shop { book.take($0) }
          try await act(app, shop)
          try await shop.resume()
          try await lab.pass(.seconds(3_600))
        }
      }
      func id() throws -> String { try lab.server.snapshot().charges[0].transactionID }
      let acts: [@Sendable (LabApp, Shop) async throws -> Void] = [
        { _, shop in _ = try await shop.purchase(ShopLab.gems, for: "alice") },
        { _, _ in try await lab.refund(transactionID: try lab.server.snapshot().charges[0].transactionID) },
        { _, _ in
          try await lab.reverseRefund(transactionID: try lab.server.snapshot().charges[0].transactionID)
        },
      ]
      switch kills {
      case 0:
        try await launch { app, shop in
          for act in acts {
            try await act(app, shop)
            try await shop.resume()
            try await lab.pass(.seconds(3_600))
          }
        }
      case 1:
        try await launch { app, shop in
          try await acts[0](app, shop)
          try await lab.pass(.seconds(60))
          try await acts[1](app, shop)
        }
        try await launch(acts[2])
      default: for act in acts { try await launch(act) }
      }
      #expect(book.outcomes.contains { $0.verdict == .refunded })
      #expect(Self.coins(after: book.outcomes) == 100)
    }
  }

  /// Credits once, and says *refunded* for a proof with a revocation.
  private struct Company: PurchaseBackend {
    let calls = Locked(0)
    func verify(_ purchase: UploadedPurchase, for owner: BackendCaller) async throws -> BackendVerdict {
      let call = calls.withLock { calls in
        calls += 1
        return calls
      }
      let signed = try SignedTransaction(jws: purchase.proof ?? "")
      return signed.revocationDate != nil ? .refunded : call == 1 ? .granted : .duplicate
    }
  }

  @Test func `the share of each partial refund reaches the outcome, and a reversal gives all of it back`()
    async throws
  {
    try await ShopLab.launch { lab, app in
      let (book, company, proof) = (OutcomeBook(), Company(), Locked(""))
      let store = app.store
      let shop = Shop(
        store: store, backend: company, configuration: app.configuration, lifecycle: .explicit,
        credentials: { "token-" + $0.account }, fulfil: { book.take($0) })
      _ = try await shop.purchase(ShopLab.gems, quantity: 3, for: "alice") { order in
        let result = try await store.purchase(order)
        if case .purchased(let paid) = result {
          proof.withLock { $0 = String(decoding: paid.proof.bytes, as: UTF8.self) }
        }
        return result
      }
      let engine = try await shop.syncEngine()
      for (hours, share) in [(1, 33_333), (2, 66_667), (3, nil)] as [(Int64, Int64?)] {
        try await lab.pass(.seconds(3_600))
        try await engine.receive(try Self.refunded(proof.value, share: share, hours: hours))
        try await lab.pass(.seconds(60))
      }
      #expect(book.outcomes.map(\.refundedShare) == [nil, 0.33333, 0.66667, nil])
      #expect(company.calls.value == 4)
      #expect(Self.coins(after: Array(book.outcomes.prefix(3))).rounded() == 100)
      #expect(Self.coins(after: book.outcomes) == 300)
      await shop.close()
    }
  }

  /// The transaction, signed some hours later, with this share refunded; with nothing refunded for nil.
  private static func refunded(_ jws: String, share: Int64?, hours: Int64) throws -> StoreTransaction {
    var part = String(jws.split(separator: ".")[1]).replacingOccurrences(of: "-", with: "+")
      .replacingOccurrences(of: "_", with: "/")
    while part.count % 4 != 0 { part += "=" }
    let object = try JSONSerialization.jsonObject(with: try #require(Data(base64Encoded: part)))
    var fields = try #require(object as? [String: Any])
    let signedAt = try #require(fields["signedDate"] as? Int64)
    fields["signedDate"] = signedAt + hours * 3_600_000
    if let share {
      fields["revocationDate"] = signedAt + 3_000_000
      fields["revocationReason"] = 0
      fields["revocationType"] = "REFUND_PRORATED"
      fields["revocationPercentage"] = share
    }
    let text = String(
      decoding: try JSONSerialization.data(withJSONObject: fields, options: [.sortedKeys]), as: UTF8.self)
    return try StoreTransaction(jws: ReceiptForge(bundleID: "com.example.lab").sign(payload: text))
  }
}
