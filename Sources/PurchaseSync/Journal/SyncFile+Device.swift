package import PurchaseQueue

/// The device's identity, in this file and in the vault.
///
/// | vault | file | the device is |
/// | --- | --- | --- |
/// | holds an identity | any | that of the vault: a file that was restored from another phone's backup brings another one |
/// | holds none | holds one that was in a vault | new: the file was restored on a phone whose vault never held it |
/// | holds none | holds one that no vault has taken yet | that of the file; the vault gets it now |
/// | holds none | holds none | new |
/// | cannot be read | any | that of the file, or none for now: a locked vault never leads to a new identity |
///
/// Entries of a restored backup are uploaded under the new identity. That is safe: the backend grants each transaction
/// once. Its open orders were made on the other phone, and are no candidates for what is bought on this one.
extension SyncFile {
  private static var name: String { "device" }
  /// A fact beside the identity: a vault held it once.
  private static var vaulted: String { "device_vaulted" }

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
      let inVault: DeviceIdentity?
      do throws(VaultError) {
        inVault = try self.identityInVault()
      } catch {
        self.queue.diagnostics?(Diagnostic(.vaultRead, Self.name, error))
        return inFile
      }
      var wasVaulted = try self.queue.fact(Self.vaulted) != nil
      let identity = inVault ?? (wasVaulted ? nil : inFile) ?? propose()
      wasVaulted = inVault != nil || self.protect(identity)
      return try self.keep(identity, insteadOf: inFile, isVaulted: wasVaulted)
    }
  }

  private func identityInVault() throws(VaultError) -> DeviceIdentity? {
    try queue.protected(prefix: Self.name).lazy
      .compactMap { DeviceIdentity(stored: String(decoding: $0.bytes, as: UTF8.self)) }.first
  }

  /// Writes the identity to the file, in one commit with the fact that a vault holds it.
  private func keep(
    _ identity: DeviceIdentity, insteadOf known: DeviceIdentity?, isVaulted: Bool = false
  ) throws(QueueError) -> DeviceIdentity {
    let isNoted = try queue.fact(Self.vaulted) != nil
    if identity != known || isVaulted != isNoted {
      try queue.transaction { () throws(QueueError) in
        if identity != known { try self.queue.setFact(Self.name, identity.stored) }
        if let known, known.id != identity.id { try self.orderNotes.disownOrders() }
        if isVaulted, !isNoted { try self.queue.setFact(Self.vaulted, "1") }
        // Else each opening would take the new identity for a restored one, and replace it again.
        if !isVaulted, isNoted, identity != known { try self.queue.removeFact(Self.vaulted) }
      }
    }
    isIdentityChecked = true
    return identity
  }

  /// False if the vault did not take it: the next opening tries again.
  private func protect(_ identity: DeviceIdentity) -> Bool {
    do throws(VaultError) {
      try queue.protect(Array(identity.stored.utf8), named: Self.name)
      return true
    } catch {
      queue.diagnostics?(Diagnostic(.vaultStore, Self.name, error))
      return false
    }
  }
}
