import CPurchaseSQLite

/// SQLite's own random numbers: what uses them is the same again where SQLite's are, on a disk in memory.
package enum SQLiteRandom {
  package static func number() -> UInt64 {
    var number: UInt64 = 0
    unsafe sqlite3_randomness(Int32(MemoryLayout<UInt64>.size), &number)
    return number
  }
}
