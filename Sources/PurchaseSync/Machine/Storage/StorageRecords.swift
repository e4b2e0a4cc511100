package import PurchaseQueue

/// How one claim of an upload was settled.
package struct SettledClaim: Sendable, Hashable {
  package var key: EntryKey
  package var verdict: Verdict
  /// The order that the verdict binds it to; nil if the binding stays as it is.
  package var orderNumber: String?
  /// The proofs that were sent. If the entry has another one by now, an update is pending: another process
  /// of this installation got it while the request was in flight. Nil if the caller looks after that itself.
  package var sent: [PayloadReference]?
  /// Whose purchase it is, if that does not follow from the verdict and the lane.
  package var owner: PurchaseOwner?
  /// The account that proved a purchase of the device lane to be its own.
  package var provenBy: String?
  /// What the verdict says of a refund.
  package var refund: RefundNote?
  /// The transaction is settled already, and its tombstone stays as it is: an account's question is answered, or another
  /// ledger does not know what is over.
  package var keepsTombstone = false

  package init(
    key: EntryKey, verdict: Verdict, orderNumber: String? = nil, sent: [PayloadReference]? = nil,
    owner: PurchaseOwner? = nil, provenBy: String? = nil
  ) {
    self.owner = owner
    self.provenBy = provenBy
    self.key = key
    self.verdict = verdict
    self.orderNumber = orderNumber
    self.sent = sent
  }

  /// The outcome of its tombstone.
  package var outcome: String {
    Tombstone.outcome(verdict, owner: owner, provenBy: provenBy, refund: refund)
  }

  /// Whether the entry, as it is when the claim is settled, has a proof that was not sent. A newer app receipt does not
  /// count: it does not distinguish an update.
  package func hasPendingUpdate(of entry: borrowing Entry) -> Bool {
    guard let sent else { return false }
    return entry.payloads.contains { !$0.isAppReceipt && !sent.contains($0) }
  }
}

/// The result of `settle`.
package struct SettledClaims: Sendable, Hashable {
  /// In the order of the claims. A key without an entry has none.
  package var tombstones: [Tombstone]
  /// Whether an update of one of them is pending now.
  package var hasPendingUpdates: Bool

  package init(_ tombstones: [Tombstone], hasPendingUpdates: Bool) {
    self.tombstones = tombstones
    self.hasPendingUpdates = hasPendingUpdates
  }
}

/// The result of `queuePendingUpdates`.
package struct QueuedUpdates: Sendable, Hashable {
  /// The updates for which there was capacity.
  package var queued: [EntryKey]
  /// Whether other updates still wait for capacity.
  package var areWaiting: Bool

  package init(queued: [EntryKey], areWaiting: Bool) {
    self.queued = queued
    self.areWaiting = areWaiting
  }
}

/// The last trial of the quarantine, as it is stored.
package struct TrialRecord: Sendable, Hashable, Codable {
  package var at: Timestamp
  /// The app's version at that time.
  package var appVersion: String
  /// The backend's Retry-After of quarantined entries, by key. Neither a new proof nor an update of the app releases
  /// an entry before it.
  package var notBefore: [EntryKey: Timestamp]?

  package init(at: Timestamp, appVersion: String) {
    self.at = at
    self.appVersion = appVersion
  }
}

/// An account that adopts what was bought on this device before sign-in.
package struct DeviceAdoption: Sendable, Hashable {
  package var account: String
  /// The place of the last entry that is covered. A place and not a moment: clock jumps do not change it.
  package var throughPlace: Int64

  package init(account: String, throughPlace: Int64) {
    self.account = account
    self.throughPlace = throughPlace
  }
}
