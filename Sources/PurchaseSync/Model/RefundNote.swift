package import AppStoreReceipts
package import PurchaseQueue

/// What a verdict says of a refund: how much the store took back, and how many units of the purchase that are.
package struct RefundNote: Sendable, Hashable {
  package var share: RefundedShare
  /// Units that the backend took back; nil if it does not say.
  package var units: Int?

  package init(share: RefundedShare, units: Int? = nil) {
    self.share = share
    self.units = units
  }

  /// Nil for a verdict that is not `refunded`, and for one that says neither share nor units. A number that is none counts
  /// as absent: then the proof says how much. Units without a share count, too.
  init?(_ verdict: ClaimVerdict) {
    guard verdict.verdict == .refunded else { return nil }
    let units = verdict.refundedUnits.flatMap { $0 >= 0 ? $0 : nil }
    guard let share = verdict.statedShare ?? units.map({ _ in .whole }) else { return nil }
    self.init(share: share, units: units)
  }

  /// What the proof of a claim says: it may be newer than what is stored of the transaction, because a delivery that
  /// comes while the entry waits replaces only its proof.
  init?(_ proof: ProofDocument?) {
    guard let proof, proof.kind == .signedTransaction else { return nil }
    do throws(ReceiptDecodingError) {
      guard let share = try SignedTransaction(jws: proof.data).refundedShare else { return nil }
      self.init(share: share)
    } catch {
      return nil  // The backend has judged it. It is not needed here.
    }
  }

  // MARK: In a tombstone

  private static var separator: UInt8 { UInt8(ascii: ":") }

  /// `refunded:33333:1`, or `refunded:33333` without units.
  func text(after verdict: Verdict) -> String {
    ([verdict.rawValue, String(share.milliPercent)] + (units.map { [String($0)] } ?? [])).joined(
      separator: ":")
  }

  /// The verdict's word in the head of an outcome's text, and the note behind it.
  static func divided(_ head: String) -> (word: String, note: RefundNote?) {
    let parts = head.utf8.split(separator: separator, omittingEmptySubsequences: false)
    // A word of a newer protocol may hold anything.
    guard 2...3 ~= parts.count, String(Substring(parts[0])) == Verdict.refunded.rawValue,
      let share = Int(Substring(parts[1])).flatMap({ RefundedShare(milliPercent: $0) })
    else { return (head, nil) }
    let units = parts.count == 3 ? Int(Substring(parts[2])) : nil
    return (Verdict.refunded.rawValue, RefundNote(share: share, units: units))
  }
}

extension UploadClassification {
  /// The same, where each `refunded` says how much: what the backend omits, the proof says that it was asked with.
  func completingRefunds(by request: UploadRequest) -> UploadClassification {
    guard case .verdicts(var reply) = self else { return self }
    for index in reply.verdicts.indices {
      let verdict = reply.verdicts[index]
      guard verdict.verdict == .refunded, verdict.owner != .another, verdict.statedShare == nil,
        let claim = request.claims.first(where: {
          $0.transactionID == verdict.transactionID && $0.environment == verdict.environment
        })
      else { continue }
      if let proven = RefundNote(request.proof(of: claim)) {
        reply.verdicts[index].refundedShare = proven.share.milliPercent
      }
    }
    return .verdicts(reply)
  }
}

extension ClaimVerdict {
  /// Nil without a share, and for a number that is none.
  fileprivate var statedShare: RefundedShare? {
    refundedShare.flatMap { RefundedShare(milliPercent: $0) }
  }
}

/// A refund of a purchase whose quantity is known.
package struct KnownRefund: Sendable, Hashable {
  package var share: RefundedShare
  package var units: Int
  package var quantity: Int

  /// What the backend says counts; else what the proof says; else all of it. A refunded period is over, whatever share of
  /// it was left.
  package init(_ note: RefundNote?, _ details: TransactionDetails) {
    let proven = details.refundedShare.flatMap { RefundedShare(milliPercent: $0) }
    share = note?.share ?? proven ?? .whole
    quantity = max(0, details.quantity)
    let own = details.expiresAt != nil ? quantity : share.units(of: quantity)
    units = min(quantity, note?.units ?? own)
  }

  /// Whether units are left.
  package var leavesUnits: Bool { units < quantity }
}

extension TransactionDetails {
  /// Whether nothing is left of it, as the proof says.
  var isRefunded: Bool { revokedAt != nil && !KnownRefund(nil, self).leavesUnits }
}

extension Tombstone {
  /// What was refunded of it; nil for every other verdict, and if the details are damaged.
  package var refund: KnownRefund? {
    guard verdict == .refunded, let details = EntryDetails(of: self).known else { return nil }
    return KnownRefund(refundNote, details)
  }
}
