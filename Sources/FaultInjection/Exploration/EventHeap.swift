/// What happens at a moment of virtual time.
struct Happening: Sendable {
  enum Kind: UInt8, Sendable {
    /// The next act of the schedule.
    case act
    /// A fault's time is over: `a` is its number.
    case faultEnds
    /// The timer of a process fires: `a` process, `b` which of its timers.
    case timer
    /// An upload gets to the backend: `a` its number.
    case uploadArrives
    /// The answer to an upload, or the lack of one: `a` its number.
    case uploadEnds
    /// `a` process, `b` its launch, `c` transaction.
    case finishEnds
    /// `a` process, `b` its launch, `c` account.
    case claimEnds
    /// `a` process, `b` its launch.
    case listed
    /// `a` process, `b` its launch, `c` transaction.
    case receiptRead
    /// A transaction is handed to whoever runs: `a` its number.
    case delivery
    /// The app has seen an outcome: `a` process, `b` its launch, `c` transaction.
    case confirmation
    /// `a` process.
    case launch
    /// The extension's time is over: `a` process, `b` its launch.
    case extensionEnds
    /// Back to the foreground: `a` process, `b` its launch.
    case foreground
    /// Somebody agrees to a purchase at last: `a` its act.
    case approval
    /// The faults stop.
    case heal
    /// The next turn of the Apple IDs: `a` which.
    case turn
    /// Before it ends, the store is asked once more, as a next launch does.
    case turnEnds
    /// What had to be delivered by now.
    case deadline
    /// Poison is cured; by now it has to be out of the way.
    case cure
    /// The end.
    case end
  }

  var at: Int64
  var sequence: UInt32 = 0
  var kind: Kind
  var a: Int32 = 0
  var b: Int32 = 0
  var c: Int32 = 0
}

/// One heap of events, ordered by time and then by the order in which they were planned: the same run every time.
struct EventHeap {
  private var all: [Happening] = []
  private var planned: UInt32 = 0

  var isEmpty: Bool { all.isEmpty }
  /// When the next one happens.
  var nextAt: Int64? { all.first?.at }

  mutating func plan(_ happening: Happening) {
    var new = happening
    new.sequence = planned
    planned += 1
    all.append(new)
    var child = all.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard Self.isBefore(new, all[parent]) else { break }
      all[child] = all[parent]
      child = parent
    }
    all[child] = new
  }

  mutating func next() -> Happening? {
    guard let first = all.first, let last = all.popLast() else { return nil }
    guard !all.isEmpty else { return first }
    var parent = 0
    while true {
      var child = 2 * parent + 1
      guard child < all.count else { break }
      if child + 1 < all.count, Self.isBefore(all[child + 1], all[child]) { child += 1 }
      guard Self.isBefore(all[child], last) else { break }
      all[parent] = all[child]
      parent = child
    }
    all[parent] = last
    return first
  }

  private static func isBefore(_ left: Happening, _ right: Happening) -> Bool {
    left.at != right.at ? left.at < right.at : left.sequence < right.sequence
  }
}
