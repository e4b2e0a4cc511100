/// What is found out while entries are mirrored.
struct MirrorPass {
  /// Entries whose flag is to be changed.
  private(set) var changes: [(key: EntryKey, isUnprotected: Bool, why: String)] = []
  /// Why no further entry is tried.
  var failure: String?
  /// A payload did not fit, although unused chunks were removed. No further payload is tried.
  var isRefused = false
  var hasCleaned = false

  /// The items in the vault, once they were needed.
  private var items: Set<String>?

  mutating func hasItem(of entry: Entry, in vault: any QueueVault) throws(VaultError) -> Bool {
    if items == nil { items = Set(try vault.list()) }
    return items?.contains(VaultMirror.itemName(entry.key)) ?? false
  }

  mutating func note(_ entry: Entry, isUnprotected: Bool, why: String) {
    guard entry.isUnprotected != isUnprotected else { return }
    changes.append((entry.key, isUnprotected, why))
  }
}
