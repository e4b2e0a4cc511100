package import PurchaseSQLite

/// Everything that opening a queue's file needs, apart from the time.
package struct QueueSetup: Sendable {
  /// The path of the queue's file.
  package var path: String
  /// How much the queue holds.
  package var limits = QueueLimits()
  /// Storage that outlives an uninstall; nil for none.
  package var vault: (any QueueVault)?
  /// The file system and the SQLite VFS; a disk in memory in tests.
  package var disk = Disk.system
  /// The SQL of the tables that the caller's module keeps in the file. A salvage believes it, whatever the file says.
  package var schemas: [String] = []
  /// Called at each checkpoint; nil outside of tests and the simulator.
  package var checkpoint: (@Sendable (Checkpoint) -> Void)?
  /// Called for each failure that no caller waits for.
  package var diagnostics: (@Sendable (Diagnostic) -> Void)?
  /// Called for each change of the books that this process commits, on the thread of the call.
  package var changes: (@Sendable (QueueChange) -> Void)?

  package init(
    path: String, limits: QueueLimits = QueueLimits(), vault: (any QueueVault)? = nil,
    disk: Disk = .system, schemas: [String] = [], checkpoint: (@Sendable (Checkpoint) -> Void)? = nil,
    diagnostics: (@Sendable (Diagnostic) -> Void)? = nil
  ) {
    self.path = path
    self.limits = limits
    self.vault = vault
    self.disk = disk
    self.schemas = schemas
    self.checkpoint = checkpoint
    self.diagnostics = diagnostics
  }
}
