#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The lock that a process holds while it writes, and the line of those that wait for it.
///
/// With one lock alone, a process that writes all the time gets it again before a waiting process wakes up. So there is
/// a second lock, the turn: the first in the line holds it while it waits. A process that has had the lock several times
/// in a row needs the turn too, and so lets the first in the line pass. Both locks end with their process.
package final class WriteLock {
  private let lock: AdvisoryLock
  /// Nil until it is needed. Its file is made by the first process that waits.
  private var turn: AdvisoryLock?
  private let path: String
  private let disk: Disk
  private let makesTurn: Bool
  private var hasTurn = false
  private var kept = LogNote.none
  private var manners = Manners()
  /// When a call last waited in vain, in milliseconds of the monotonic clock.
  private var gaveUpAt: Int64?

  private init(_ lock: consuming AdvisoryLock, _ path: String, _ disk: Disk, makesTurn: Bool) {
    self.lock = lock
    (self.path, self.disk, self.makesTurn) = (path, disk, makesTurn)
  }

  /// Opens the file of the lock, and creates it if it is absent. Locks nothing yet.
  ///
  /// - Parameter makesTurn: false if waiting must not change the directory.
  package static func open(
    _ path: String, on disk: Disk = .system, makesTurn: Bool = true
  ) throws(FileError) -> WriteLock {
    WriteLock(try AdvisoryLock(path: path + "-lock", on: disk), path, disk, makesTurn: makesTurn)
  }

  /// Opens an existing file without the right to write it; nil if it is absent.
  package static func existing(_ path: String, on disk: Disk = .system) throws(FileError) -> WriteLock? {
    guard let lock = try AdvisoryLock(existing: path + "-lock", on: disk) else { return nil }
    return WriteLock(lock, path, disk, makesTurn: false)
  }

  /// True if this value holds the lock now. Never waits. After false, this value may be the first in the line: try
  /// again soon, or call `giveUp`.
  package func tryTake() throws(FileError) -> Bool {
    if !hasTurn, manners.needsTurn {
      if let isMine = try tryTurn(making: false) {
        hasTurn = isMine
        guard isMine || manners.isRefusedTooOften() else { return false }
      } else {
        manners.sawNoLine()
      }
    }
    guard try lock.tryLock() else {
      if !hasTurn { hasTurn = try tryTurn(making: makesTurn) ?? false }
      return false
    }
    manners.took(withTurn: hasTurn)
    leaveLine()
    return true
  }

  /// Leaves the line without the lock.
  package func giveUp() { leaveLine() }

  /// Tries until the time is over; then false. So a process that was stopped while it held the lock cannot make this
  /// one hang.
  ///
  /// Calls that one thread makes one after the other would add up their times. So the calls of the second that follows
  /// a call that waited in vain wait for a moment only.
  package func take(
    timeoutMilliseconds: Int, pause: (UInt32) -> Void = { usleep($0) }
  ) throws(FileError) -> Bool {
    if try tryTake() { return true }
    defer { leaveLine() }
    let isRepeated = gaveUpAt.map { SystemClock.monotonicMilliseconds() - $0 < 1_000 } ?? false
    let time = (isRepeated ? min(timeoutMilliseconds, Self.moment) : timeoutMilliseconds) * 1_000
    var pauses = LockPauses()
    while pauses.all < time {
      pause(UInt32(pauses.next()))
      if try tryTake() { return true }
    }
    if !isRepeated { gaveUpAt = SystemClock.monotonicMilliseconds() }
    return false
  }

  package func unlock() { lock.unlock() }

  /// Notes how much of the log is durable. Only the holder of the lock may call this.
  package func keep(_ note: LogNote) throws(FileError) {
    guard note != kept, note != .none else { return }
    try lock.write(note.bytes)
    kept = note
  }

  /// The note in the file of the lock; nil without a file.
  package static func note(of path: String, on disk: Disk) throws(FileError) -> LogNote? {
    guard try disk.kind(of: path + "-lock") == .file else { return nil }
    return LogNote(try disk.readIfPresent(path + "-lock", count: LogNote.size))
  }

  /// How long a call waits after another one waited in vain, in milliseconds.
  private static let moment = 5

  /// Nil if no process has waited yet.
  private func tryTurn(making: Bool) throws(FileError) -> Bool? {
    let path = self.path + "-turn"
    if turn == nil {
      do throws(FileError) {
        turn = making ? try AdvisoryLock(path: path, on: disk) : try AdvisoryLock(existing: path, on: disk)
      } catch {
        // A process waits without the line then, only less fairly.
        guard error.isDiskFull else { throw error }
      }
    }
    switch turn {
    case .some(let turn): return try turn.tryLock()
    case nil: return nil
    }
  }

  private func leaveLine() {
    guard hasTurn else { return }
    hasTurn = false
    switch turn {
    case .some(let turn): turn.unlock()
    case nil: return
    }
  }
}

/// The pauses between the tries of one wait: short ones for the lock of a commit or of a checkpoint, longer ones for a
/// lock that is held for long.
package struct LockPauses {
  /// The sum so far, in microseconds.
  package private(set) var all = 0
  private var pause = 100

  package init() {}

  /// The next pause in microseconds.
  package mutating func next() -> Int {
    defer {
      all += pause
      if all > 2_000 { pause = min(pause * 2, all < 100_000 ? 500 : 5_000) }
    }
    return pause
  }
}

/// How often a process takes the lock before it lets another one pass.
struct Manners {
  /// How often in a row the lock was taken without the turn. Negative while no process is expected in the line.
  private var inARow = Self.longestRow - Self.rowWithoutLine
  private var refusals = 0

  /// The longest row.
  static let longestRow = 4
  /// The longest row before the first process has waited.
  static let rowWithoutLine = 16
  /// After so many refusals, the holder of the turn is taken for a stopped process.
  static let mostRefusals = 200
  /// The row after that.
  static let longRow = 1_000

  /// True if the turn is needed for the next try.
  var needsTurn: Bool { inARow >= Self.longestRow }

  mutating func took(withTurn: Bool) {
    inARow = withTurn ? 1 : inARow + 1
    refusals = 0
  }

  /// Looking for the file costs a system call, so it is not done as often while there is none.
  mutating func sawNoLine() { inARow = Self.longestRow - Self.rowWithoutLine }

  /// Counts a refusal of the turn. True if the lock is to be tried without it.
  mutating func isRefusedTooOften() -> Bool {
    refusals += 1
    guard refusals >= Self.mostRefusals else { return false }
    inARow = -Self.longRow
    return true
  }
}
