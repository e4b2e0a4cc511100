import CPurchaseSQLite
import PurchaseSync

/// The output of `--version`.
package enum Version {
  package static var text: String {
    let sqlite = unsafe String(cString: sqlite3_libversion())
    return "\(Program.current.rawValue) \(PackageVersion.current), wire protocol 1, SQLite \(sqlite)"
  }
}
