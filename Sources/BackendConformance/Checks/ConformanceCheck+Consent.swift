import AppStoreReceipts
import PurchaseSyncTesting

extension ConformanceCheck {
  /// What a parent's withdrawn consent does to purchases.
  static let consent: [ConformanceCheck] = [
    ConformanceCheck(
      "consent-rescinded", "a withdrawn consent takes nothing back, and what is paid is still granted",
      .yourBackend("If a parent withdraws the consent")
    ) { lab in
      let apple = await lab.unique("apple")
      let before = try await lab.held(by: .alice)
      let (order, paid) = try await lab.paidOrder(storeAccount: apple)
      let granted = try await lab.settled(paid, order: order.number)
      try expect(granted == "granted", "granted")
      let (later, unsent) = try await lab.paidOrder(storeAccount: apple)
      let reply = try await lab.notify(try await lab.rescindConsent(of: apple))
      try expect(reply.isSuccess, "a 2xx")
      let kept = try await lab.held(by: .alice)
      try expect(kept == before + 1, "what was granted before: \(before + 1)")
      let word = try await lab.settled(unsent, order: later.number)
      try expect(word == "granted", "granted: it was paid before")
      let after = try await lab.held(by: .alice)
      try expect(after == before + 2, "both purchases: \(before + 2)")
    }
  ]
}

extension ConformanceLab {
  /// A parent no longer consents. The result is the notification.
  fileprivate func rescindConsent(of storeAccount: String) async throws -> String? {
    let reply = try await ask(
      "POST", "store/consent-withdrawals", ["storeAccount": .string(storeAccount)])
    return reply.json?["signedPayload"]?.string
  }
}
