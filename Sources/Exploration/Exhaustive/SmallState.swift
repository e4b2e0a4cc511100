/// A state of the small world in 128 bits: the numbers of what its parts are in, and nothing else. Two states are the same
/// if and only if the bits are.
struct SmallState: Hashable {
  /// Devices (22 bits each), store and backend (16), and what is left of the faults (one bit each).
  var low: UInt64 = 0
  /// Up to five letters in the network, the greatest first.
  var high: UInt64 = 0

  static let mostDevices = 1 << 22
  static let mostOutsides = 1 << 16

  func device(_ number: Int) -> Int { Int(low >> (22 * UInt64(number)) & 0x3F_FFFF) }

  mutating func set(device number: Int, _ value: Int) {
    let shift = 22 * UInt64(number)
    low = low & ~(0x3F_FFFF << shift) | UInt64(value) << shift
  }

  var outside: Int {
    get { Int(low >> 44 & 0xFFFF) }
    set { low = low & ~(0xFFFF << 44) | UInt64(newValue) << 44 }
  }

  enum Left: UInt64 { case crash = 60, lostReply, reinstall }

  func has(_ fault: Left) -> Bool { low >> fault.rawValue & 1 != 0 }
  mutating func give(_ fault: Left) { low |= 1 << fault.rawValue }
  mutating func use(_ fault: Left) { low &= ~(1 << fault.rawValue) }

  /// The same, with more faults left.
  var more: some Sequence<SmallState> {
    let left = low >> 60
    return (left + 1..<max(8, left + 1)).lazy.filter { $0 & left == left }.map { [low, high] in
      SmallState(low: low & ~(7 << 60) | $0 << 60, high: high)
    }
  }

  // MARK: Letters

  /// Each fault leaves at most one request that no one waits for, and each device waits for one.
  static let mostLetters = 5
  private static let letterMask: UInt64 = (1 << SmallLetter.bits) - 1

  private func code(_ place: Int) -> UInt64 { high >> UInt64(SmallLetter.bits * place) & Self.letterMask }

  func letter(_ place: Int) -> SmallLetter? {
    guard place < Self.mostLetters else { return nil }
    let code = code(place)
    return code == 0 ? nil : SmallLetter(code: code)
  }

  /// False if there is no place for it.
  mutating func add(_ letter: SmallLetter) -> Bool {
    guard code(Self.mostLetters - 1) == 0 else { return false }
    var place = 0
    while code(place) > letter.code { place += 1 }
    let shift = UInt64(SmallLetter.bits * place)
    let below = high & ((1 << shift) - 1)
    high = below | letter.code << shift | (high >> shift) << (shift + UInt64(SmallLetter.bits))
    return true
  }

  mutating func remove(_ place: Int) {
    let shift = UInt64(SmallLetter.bits * place)
    let below = high & ((1 << shift) - 1)
    high = below | (high >> (shift + UInt64(SmallLetter.bits))) << shift
  }

  /// The process of a device is gone: no one waits for its letters, and answers to it go nowhere.
  mutating func orphan(_ device: Int) {
    var rest: [SmallLetter] = []
    for place in 0..<Self.mostLetters {
      guard let letter = letter(place) else { break }
      if letter.device != device {
        rest.append(letter)
      } else if letter.answer < 0 {
        rest.append(letter.orphan)
      }
    }
    high = 0
    for letter in rest { _ = add(letter) }
  }

  /// As the other device would be called. Only before the first purchase: nothing else names a device then.
  var mirrored: SmallState {
    var state = self
    state.set(device: 0, device(1))
    state.set(device: 1, device(0))
    return state
  }
}
