import AppStoreReceipts
import PurchaseQueue

/// Restoring purchases.
extension SyncEngine {
  /// Takes over what the store account owns. **Only when the user asked for it**: the store may ask for a password, for
  /// which there are ten times the store's time limit. A store without a list of what its account owns gives the
  /// transactions of its app receipt, as ``refreshReceipt()`` does.
  ///
  /// If the store cannot fetch what other devices bought, what this device knows is taken over, and then it throws. What
  /// finds no capacity is taken over later, as by ``refreshReceipt()``.
  public func restorePurchases() async throws(SyncError) {
    let store = ports.store
    let isFetched = try await asked { () async throws -> Bool? in
      try await store.sync()
      return true
    }
    let answer = try await asked { () async throws -> [StoreTransaction]?? in
      .some(try await store.currentEntitlements())
    }
    guard let answer else { throw .store(reason: "it did not list what its account owns") }
    guard let owned = answer else { return try await refreshReceipt() }
    decisions.tray.restores(owned.map { RestoredTransaction(transaction: $0, isAsked: true) })
    let failure = try await takeRestoredAfterListing()
    try wake(.userAsked)
    if let failure { throw failure }
    guard isFetched != nil else { throw .store(reason: "it did not fetch what other devices bought") }
  }

  /// A call of the store for which the user may have to enter a password; nil if it failed or took too long.
  private func asked<Answer: Sendable>(
    _ work: @escaping @Sendable () async throws -> Answer?
  ) async throws(SyncError) -> Answer? {
    let storeLimit = configuration.storeTimeLimit.wholeMilliseconds
    let (limit, isTooLong) = storeLimit.multipliedReportingOverflow(by: 10)
    let patience = self.limit(.milliseconds(isTooLong ? .max : limit), of: .store, about: "restore")
    return try await call { (_) async throws(SyncError) in await patience.answer(of: work) }
  }

  /// Fetches a new app receipt and takes over its transactions. **Only when the user asked for it**: the store may ask for
  /// a password, for which there are ten times the store's time limit.
  ///
  /// Transactions for which there is no capacity are taken over later, as soon as there is some, also after a restart:
  /// until then ``SyncSnapshot/isStoreHoldingMore`` is true. Throws if there is no receipt, or if the file fails.
  public func refreshReceipt() async throws(SyncError) {
    let store = ports.store
    let answer = try await asked { () async throws -> [UInt8]?? in .some(try await store.refreshReceipt()) }
    guard let answer else { throw .store(reason: "the receipt could not be refreshed") }
    guard let bytes = answer else { return }
    do throws(ReceiptDecodingError) {
      decisions.tray.restores(try Self.restored(from: bytes, isAsked: true))
    } catch {
      throw .store(reason: "the refreshed receipt is \(error)")
    }
    let failure = try await takeRestoredAfterListing()
    try wake(.userAsked)
    if let failure { throw failure }
  }

  /// A payment that was not taken yet is in the store's list with its token, and in a receipt without. So the list comes
  /// first: else the payment would be taken for another person's. If the store does not list, what was restored waits for
  /// the next list, also after a restart.
  private func takeRestoredAfterListing() async throws(SyncError) -> SyncError? {
    note(isRestoring: !decisions.tray.restoring.isEmpty)
    let limit = storeLimit(of: "unfinished")
    let listing = try await call { (engine) async throws(SyncError) in
      await limit.answer { await engine.list() }
    }
    guard listing != nil else { throw .store(reason: "it did not list its unfinished transactions") }
    return takeRestored()
  }

  private static func restored(
    from bytes: [UInt8], isAsked: Bool
  ) throws(ReceiptDecodingError) -> [RestoredTransaction] {
    try StoreTransaction.all(in: AppReceipt(decoding: bytes), bytes: bytes).map {
      RestoredTransaction(transaction: $0, isAsked: isAsked)
    }
  }

  /// Takes what there is capacity for; the rest stays for the next listing. Returns the first failure that is not lack of
  /// capacity.
  @discardableResult
  func takeRestored() -> SyncError? {
    let restoring = decisions.tray.restoring
    guard !restoring.isEmpty else { return nil }
    decisions.presence.callBegins()
    defer { callEnded() }
    var intake = RestoreIntake()
    for restored in restoring {
      let transaction = restored.transaction
      do throws(SyncError) {
        if let full = intake.full, try isOneMore(transaction) {
          overflows(transaction.key, full)
          intake.leaves(restored)
          continue
        }
        try receive(
          transaction, storeAccount: nil, isRestored: restored.isAsked, user: user(ofRestored: transaction))
      } catch {
        intake.failed(restored, error)
      }
    }
    decisions.tray.restores(intake.left)
    note(isRestoring: !intake.left.isEmpty)
    return intake.failure
  }

  private static var fact: String { "restoring" }

  /// Keeps across a restart that a restored receipt is not taken over completely.
  private func note(isRestoring: Bool) {
    let text = isRestoring ? "yes" : "no"
    reporting { () throws(SyncError) in
      try withFile { (file) throws(QueueError) in
        let known = try file.queue.fact(Self.fact) ?? "no"
        if known != text { try file.queue.setFact(Self.fact, text) }
      }
    }
  }

  /// A restart ended the takeover of what was restored: lists what the store account owns, or else reads the receipt that
  /// is on the device. Both without a prompt.
  func continueRestoring() {
    do throws(SyncError) {
      guard try withFile({ (file) throws(QueueError) in try file.queue.fact(Self.fact) == "yes" }) else {
        return
      }
    } catch {
      return report(error)
    }
    let (store, limit) = (ports.store, storeLimit(of: "receipt"))
    run { engine in
      if let owned = await limit.answer(of: { try await store.currentEntitlements() }) {
        return await engine.foundAgain(owned.map { RestoredTransaction(transaction: $0, isAsked: false) })
      }
      guard let bytes = await limit.answer(of: { try await store.receipt() }) else { return }
      do throws(ReceiptDecodingError) {
        await engine.foundAgain(try Self.restored(from: bytes, isAsked: false))
      } catch {
        await engine.report(.store(reason: "the receipt is \(error)"))
      }
    }
  }

  /// A receipt names no tokens, so the payment may have been a guest's, or another account's, on another phone: it goes to
  /// no account for being signed in here. The backend says whose it is.
  private func user(ofRestored transaction: StoreTransaction) -> AppUser {
    var user = self.user(of: transaction)
    let mayHaveHadToken =
      transaction.accountToken == nil && transaction.proof.kind != ProofKind.signedTransaction.rawValue
    if mayHaveHadToken, user.policy == .signedInAccount { user.policy = .device }
    return user
  }

  private func foundAgain(_ found: [RestoredTransaction]) {
    guard !isShutDown, decisions.tray.restoring.isEmpty else { return }
    decisions.tray.restores(found)
    // They are taken when the store's list is.
    listStore()
  }
}
