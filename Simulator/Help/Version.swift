import CPurchaseSQLite

/// The output of `--version`.
enum Version {
  static let number = "0.7.0"

  static var text: String {
    let sqlite = unsafe String(cString: sqlite3_libversion())
    return "purchase-simulator \(number), wire protocol 1, SQLite \(sqlite)"
  }
}
