/// All states that were found, by number, in the order in which they were found.
///
/// It keeps whole states and not hashes of them: two states are never taken for one.
struct StateTable {
  private(set) var low: ContiguousArray<UInt64> = []
  private(set) var high: ContiguousArray<UInt64> = []
  /// From which state each was found first.
  private(set) var parents: ContiguousArray<UInt32> = []
  /// Numbers plus 1 by hash; 0 is free.
  private var slots: ContiguousArray<UInt32>
  private var mask: UInt64

  init(capacity: Int = 1 << 12) {
    slots = ContiguousArray(repeating: 0, count: capacity)
    mask = UInt64(capacity - 1)
  }

  var count: Int { low.count }

  subscript(number: Int) -> SmallState { SmallState(low: low[number], high: high[number]) }

  /// The bytes that it takes, at the most while it grows.
  var bytes: Int { low.capacity * 20 + slots.count * 4 }
  /// The bytes that the next growth needs at one time.
  var bytesToGrow: Int { low.count < low.capacity ? 0 : low.capacity * 40 + slots.count * 8 }

  private static func hash(_ state: SmallState) -> UInt64 {
    var value = (state.low ^ state.high &* 0x9E37_79B9_7F4A_7C15) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ value >> 31) &* 0x94D0_49BB_1331_11EB
    return value ^ value >> 29
  }

  private func find(_ state: SmallState) -> (number: Int?, place: Int) {
    var place = Self.hash(state) & mask
    while true {
      let slot = slots[Int(place)]
      if slot == 0 { return (nil, Int(place)) }
      let number = Int(slot - 1)
      if low[number] == state.low, high[number] == state.high { return (number, Int(place)) }
      place = (place + 1) & mask
    }
  }

  /// The number of the state, and whether it is new. A state that was found with more faults left is not new: all that
  /// can follow from this one follows from that one.
  mutating func insert(_ state: SmallState, from parent: Int) -> (number: Int, isNew: Bool) {
    let (known, place) = find(state)
    if let known { return (known, false) }
    for faults in state.more { if let richer = find(faults).number { return (richer, false) } }
    low.append(state.low)
    high.append(state.high)
    parents.append(UInt32(parent))
    slots[place] = UInt32(low.count)
    if low.count * 3 > slots.count * 2 { grow() }
    return (low.count - 1, true)
  }

  private mutating func grow() {
    let size = slots.count * 2
    slots = []
    slots = ContiguousArray(repeating: 0, count: size)
    mask = UInt64(size - 1)
    for number in low.indices {
      var place = Self.hash(self[number]) & mask
      while slots[Int(place)] != 0 { place = (place + 1) & mask }
      slots[Int(place)] = UInt32(number + 1)
    }
  }
}
