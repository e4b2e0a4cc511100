import CPurchaseSQLite

/// SQLite's own random numbers. On a disk in memory, SQLite is seeded, so these numbers are repeatable too.
package enum SQLiteRandom {
  package static func number() -> UInt64 {
    var number: UInt64 = 0
    unsafe sqlite3_randomness(Int32(MemoryLayout<UInt64>.size), &number)
    return number
  }
}
