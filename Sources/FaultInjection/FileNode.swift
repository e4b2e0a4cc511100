import CPurchaseSQLite

/// The locks of one file and SQLite's shared memory: a power cut clears them.
final class FileNode {
  /// SQLite's lock levels of each open file that has one.
  private var levels: [ObjectIdentifier: Int32] = [:]
  /// The descriptor that holds the advisory lock.
  var lockHolder: Int32?
  var sharedMemory: SharedMemory?

  // MARK: SQLite's locks (https://sqlite.org/lockingv3.html)

  func level(of file: ObjectIdentifier) -> Int32 { levels[file] ?? SQLITE_LOCK_NONE }

  /// False if another file's lock is in the way.
  func lock(_ file: ObjectIdentifier, _ wanted: Int32) -> Bool {
    var highest = SQLITE_LOCK_NONE
    for (other, level) in levels where other != file { highest = max(highest, level) }
    switch wanted {
    case SQLITE_LOCK_SHARED:
      guard highest < SQLITE_LOCK_PENDING else { return false }
    case SQLITE_LOCK_RESERVED:
      guard highest < SQLITE_LOCK_RESERVED else { return false }
    default:
      guard highest < SQLITE_LOCK_RESERVED else { return false }
      guard highest == SQLITE_LOCK_NONE else {
        // New readers wait, the old ones may finish.
        levels[file] = SQLITE_LOCK_PENDING
        return false
      }
    }
    levels[file] = max(wanted, level(of: file))
    return true
  }

  func unlock(_ file: ObjectIdentifier, to level: Int32) {
    levels[file] = level == SQLITE_LOCK_NONE ? nil : level
  }

  func isReserved() -> Bool { levels.values.contains { $0 >= SQLITE_LOCK_RESERVED } }
}

/// The index of a log, as SQLite's connections in one process share it, and its eight locks.
@safe final class SharedMemory {
  private var regions: [UnsafeMutableRawPointer] = unsafe []
  private var users: Set<ObjectIdentifier> = []
  private var exclusive = [ObjectIdentifier?](repeating: nil, count: Int(SQLITE_SHM_NLOCK))
  private var shared = [[ObjectIdentifier]](repeating: [], count: Int(SQLITE_SHM_NLOCK))

  deinit { clear() }

  func join(_ file: ObjectIdentifier) { users.insert(file) }

  /// The last one who leaves takes everything with him.
  func leave(_ file: ObjectIdentifier) {
    users.remove(file)
    for slot in exclusive.indices { unlock(file, slot..<slot + 1) }
    if users.isEmpty { clear() }
  }

  /// Nil for a region that is not there and is not to be made.
  func region(_ number: Int, size: Int, isExtending: Bool) -> UnsafeMutableRawPointer? {
    while unsafe regions.count <= number {
      guard isExtending else { return nil }
      let region = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
      unsafe region.initializeMemory(as: UInt8.self, repeating: 0, count: size)
      unsafe regions.append(region)
    }
    return unsafe regions[number]
  }

  func lock(_ file: ObjectIdentifier, _ slots: Range<Int>, isExclusive: Bool) -> Bool {
    for slot in slots {
      if let holder = exclusive[slot], holder != file { return false }
      if isExclusive, shared[slot].contains(where: { $0 != file }) { return false }
    }
    for slot in slots {
      if isExclusive {
        exclusive[slot] = file
      } else if !shared[slot].contains(file) {
        shared[slot].append(file)
      }
    }
    return true
  }

  func unlock(_ file: ObjectIdentifier, _ slots: Range<Int>) {
    for slot in slots {
      if exclusive[slot] == file { exclusive[slot] = nil }
      shared[slot].removeAll { $0 == file }
    }
  }

  private func clear() {
    while let region = unsafe regions.popLast() { unsafe region.deallocate() }
  }
}
