import AppStoreReceipts
import PurchaseQueue
import PurchaseSyncTesting

extension ConformanceCheck {
  private static let chains = ConformanceSource.yourBackend("If a proof is old")

  /// Proofs whose certificates are not valid now.
  static let oldProofs: [ConformanceCheck] = [
    ConformanceCheck(
      "proof-chain-ended", "a proof whose certificates ended after it is granted, or asked for again", chains
    ) { lab in
      let before = try await lab.held(by: .alice)
      let old = try await lab.withClock(movedBy: ConformanceLab.toEndedChain) {
        let paid = try await lab.pay(token: nil, storeAccount: lab.unique("apple"))
        return try await lab.signedAgain(paid, "?chain=ended")
      }
      let first = try await lab.settled(old)
      try expect(
        ["granted", "unknownTransaction", "pending"].contains(first),
        "granted; or unknownTransaction, so that the device sends the proof that the store signs now")
      if first != "granted" {
        let new = try await lab.signedAgain(old)
        let word = try await lab.settled(new)
        try expect(word == "granted" || word == "duplicate", "granted, with the proof that is signed now")
      }
      let after = try await lab.held(by: .alice)
      try expect(after == before + 1, "the purchase: \(before + 1)")
    },
    ConformanceCheck(
      "proof-chain-revoked", "a proof under a revoked certificate counts as none; a right one is granted",
      chains
    ) { lab in
      let before = try await lab.held(by: .alice)
      let paid = try await lab.pay(token: nil, storeAccount: lab.unique("apple"))
      let revoked = try await lab.signedAgain(paid, "?broken=revoked")
      let word = try await lab.settled(revoked)
      try expect(
        word == "unknownTransaction",
        "unknownTransaction, so that the device sends the proof that the store signs now")
      let refused = try await lab.held(by: .alice)
      try expect(refused == before, "nothing granted: \(before)")
      let right = try await lab.settled(paid)
      try expect(right == "granted", "granted, with a right proof of the same purchase")
    },
  ]
}

extension ConformanceLab {
  /// From now to a month before the end of the chain that has ended, in milliseconds.
  fileprivate static var toEndedChain: Int64 { ChainAge.end.milliseconds - 30 * 86_400_000 - now }

  /// The payment with a proof that the store signs now.
  ///
  /// - Parameter query: What is unusual about the signature, such as `?chain=ended`.
  func signedAgain(_ paid: Paid, _ query: String = "") async throws -> Paid {
    let reply = try await ask("GET", "store/transactions/\(paid.transactionID)/signed\(query)")
    guard let jws = reply.json?["signedTransactionInfo"]?.string else {
      throw ConformanceFailure("a signed transaction of the store")
    }
    var signed = paid
    signed.jws = jws
    return signed
  }
}
