import Foundation
import PurchaseQueue

extension SyncEngine {
  /// Keeps the queue's file out of the system's backups: on another phone it would bring the entries, and the identity, of
  /// this one. What is unfinished comes from the store there. Without effect on systems that have no such mark.
  func excludeFromBackups() {
    #if canImport(Darwin)
      for suffix in ["", "-wal"] {
        let path = configuration.path + suffix
        guard FileManager.default.fileExists(atPath: path) else { continue }
        var url = URL(fileURLWithPath: path)
        var values = URLResourceValues()
        values.isExcludedFromBackup = true
        do {
          try url.setResourceValues(values)
        } catch {
          configuration.diagnostics?(Diagnostic(.maintenance, path, error))
        }
      }
    #endif
  }
}
