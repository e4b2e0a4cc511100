package import PurchaseQueue

/// The device's identity, in this file and in the vault.
///
/// | vault | file | the device is |
/// | --- | --- | --- |
/// | holds an identity | any | that of the vault: a file that was restored from another phone's backup brings another one |
/// | holds none | holds one that was in a vault | new: the file was restored on a phone whose vault never held it |
/// | holds none | holds one that no vault has taken yet | that of the file; the vault gets it now |
/// | holds none | holds none | new |
/// | is locked | any | that of the file, or none for now: a locked vault never leads to a new identity |
/// | fails | any | that of the file. Without one it is read twice more, and then the file gets a new one |
///
/// A vault may fail for good, such as the keychain of an app that is not signed for it: no purchase waits for it. If it is
/// read later after all, the table's first line counts.
///
/// A locked keychain may say that it holds nothing. So a name is replaced only by one that the vault takes, and a locked
/// vault takes none.
///
/// Entries of a restored backup are uploaded under the new identity. That is safe: the backend grants each transaction
/// once. Its open orders were made on the other phone, and are no candidates for what is bought on this one.
extension SyncFile {
  private static var name: String { "device" }
  /// A fact next to the identity: a vault held it once.
  private static var vaulted: String { "device_vaulted" }
  /// How often a failing vault is read before a file without an identity gets one of its own. Seconds pass in between:
  /// the lanes wait with their backoff.
  private static var vaultPatience: Int { 3 }

  /// This installation's identity. Nil while the vault is locked and the file has none.
  package func identity(proposing propose: () -> DeviceIdentity) throws(QueueError) -> DeviceIdentity? {
    if isIdentityChecked, let known = try identityInFile() { return known }
    return try settleIdentity(proposing: propose)
  }

  /// Runs at each opening: notices a file that was restored on another phone, and a vault that lacks the identity.
  /// A new file gets its identity here, before its first order: a copy without one would not be known as a copy.
  func checkIdentity() {
    do {
      guard queue.hasVault else { return }
      _ = try settleIdentity(proposing: newIdentity)
    } catch {
      queue.diagnostics?(Diagnostic(.vaultRead, Self.name, error))
    }
  }

  private func identityInFile() throws(QueueError) -> DeviceIdentity? {
    try queue.fact(Self.name).flatMap { DeviceIdentity(stored: $0) }
  }

  /// Under the lock of the file: two processes that look at the same moment agree.
  private func settleIdentity(proposing propose: () -> DeviceIdentity) throws(QueueError) -> DeviceIdentity? {
    try queue.exclusively { () throws(QueueError) in
      let inFile = try self.identityInFile()
      guard self.queue.hasVault else { return try self.keep(inFile ?? propose(), insteadOf: inFile) }
      let found: VaultedIdentity
      do throws(VaultError) {
        found = try self.identityInVault()
      } catch {
        self.queue.diagnostics?(Diagnostic(.vaultRead, Self.name, error))
        guard inFile == nil, self.isFailing(error) else { return inFile }
        // Not checked: the vault is read again each time, and its own identity counts once it answers.
        defer { self.isIdentityChecked = false }
        return try self.keep(propose(), insteadOf: nil)
      }
      return try self.settle(found, inFile, proposing: propose)
    }
  }

  private func settle(
    _ found: VaultedIdentity, _ inFile: DeviceIdentity?, proposing propose: () -> DeviceIdentity
  ) throws(QueueError) -> DeviceIdentity? {
    let own: DeviceIdentity?
    switch found {
    case .identity(let identity): return try keep(identity, insteadOf: inFile, isVaulted: true)
    case .none: own = try queue.fact(Self.vaulted) == nil ? inFile : nil
    case .unreadable: own = inFile
    }
    let identity = own ?? propose()
    do throws(VaultError) {
      try queue.protect(Array(identity.stored.utf8), named: Self.name)
    } catch {
      queue.diagnostics?(Diagnostic(.vaultStore, Self.name, error))
      // It may hold an identity that it does not show.
      guard error != .locked else { return inFile }
      // The next opening tries again.
      return try keep(identity, insteadOf: inFile)
    }
    return try keep(identity, insteadOf: inFile, isVaulted: true)
  }

  /// Whether a vault without an answer has failed so often that this file's own identity has to do.
  private func isFailing(_ error: VaultError) -> Bool {
    guard error != .locked else { return false }
    failedVaultReads += 1
    return failedVaultReads >= Self.vaultPatience
  }

  private enum VaultedIdentity {
    case identity(DeviceIdentity)
    /// The vault has no such item.
    case none
    /// Its item is damaged. The vault is this device's own all the same.
    case unreadable
  }

  private func identityInVault() throws(VaultError) -> VaultedIdentity {
    let items = try queue.protected(prefix: Self.name)
    let identities = items.lazy.compactMap {
      DeviceIdentity(stored: String(decoding: $0.bytes, as: UTF8.self))
    }
    return identities.first.map { .identity($0) } ?? (items.isEmpty ? .none : .unreadable)
  }

  /// Writes the identity to the file, in one commit with the fact that a vault holds it.
  private func keep(
    _ identity: DeviceIdentity, insteadOf known: DeviceIdentity?, isVaulted: Bool = false
  ) throws(QueueError) -> DeviceIdentity {
    let isNoted = try queue.fact(Self.vaulted) != nil
    if identity != known || isVaulted != isNoted {
      try queue.transaction { () throws(QueueError) in
        if identity != known { try self.queue.setFact(Self.name, identity.stored) }
        if let known, known.id != identity.id { try self.disownOrders() }
        if isVaulted, !isNoted { try self.queue.setFact(Self.vaulted, "1") }
        // Else each opening would take the new identity for a restored one, and replace it again.
        if !isVaulted, isNoted, identity != known { try self.queue.removeFact(Self.vaulted) }
      }
    }
    isIdentityChecked = true
    return identity
  }

  /// The file is a copy: another device gave its orders to the app.
  private func disownOrders() throws(QueueError) {
    for row in try journal.orders() { try journal.update(row.order.number) { $0.disown() } }
  }
}
