import CPurchaseSQLite
import PurchaseSync

/// The output of `--version`.
enum Version {
  static var text: String {
    let sqlite = unsafe String(cString: sqlite3_libversion())
    return "purchase-simulator \(PackageVersion.current), wire protocol 1, SQLite \(sqlite)"
  }
}
