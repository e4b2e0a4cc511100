/// One event of the machine's simulation.
struct Happening: Sendable {
  enum Kind: UInt8, Sendable {
    /// The next act of the schedule.
    case act
    /// A fault ends: `a` is its number.
    case faultEnds
    /// The timer of a process fires: `a` process, `b` which of its timers.
    case timer
    /// An upload reaches the backend: `a` its number.
    case uploadArrives
    /// The reply to an upload, or its failure: `a` its number.
    case uploadEnds
    /// `a` process, `b` its launch, `c` transaction.
    case finishEnds
    /// `a` process, `b` its launch, `c` account.
    case adoptionEnds
    /// `a` process, `b` its launch.
    case listed
    /// A list that failed is asked for again: `a` process, `b` its launch, `c` which of them in a row.
    case listAgain
    /// `a` process, `b` its launch, `c` transaction.
    case receiptRead
    /// The store delivers a transaction to the running processes: `a` its number.
    case delivery
    /// The store notifies the backend of a purchase: `a` the transaction.
    case notification
    /// The app has seen an outcome: `a` process, `b` its launch, `c` transaction.
    case confirmation
    /// The app is given again what it failed to fulfil: `a` process, `b` its launch.
    case fulfilAgain
    /// `a` process.
    case launch
    /// The extension ends: `a` process, `b` its launch.
    case extensionEnds
    /// Back to the foreground: `a` process, `b` its launch.
    case foreground
    /// Wakes that came too fast have their effect: `a` process, `b` its launch.
    case wakes
    /// A purchase is approved: `a` its act.
    case approval
    /// The faults stop.
    case heal
    /// The Apple IDs change phones: `a` counts the changes.
    case turn
    /// The end of such a turn: the store is listed once more, as a launch does.
    case turnEnds
    /// The deadline of the deliveries.
    case deadline
    /// Poison entries have to be out of the way; then they are repaired.
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

/// Orders events by time, then by the order of planning.
struct EventHeap {
  private var all: [Happening] = []
  private var planned: UInt32 = 0

  var isEmpty: Bool { all.isEmpty }

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

  mutating func remove(where isGone: (Happening) -> Bool) {
    let kept = all.filter { !isGone($0) }
    // Sorted by the same order, it is a heap.
    all = kept.sorted(by: Self.isBefore)
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
