import PurchaseSyncTesting

/// A set of calls in the order of their begins: all before `base`, and single ones after it.
///
/// Few calls overlap, so the single ones are near the base and the set is small.
struct CallSet: Hashable {
  /// The first call that is not in the set.
  private(set) var base = 0
  /// Bit n is the call `base + 1 + n`. The last word is not zero.
  private var words: [UInt64] = []

  func contains(_ call: Int) -> Bool {
    guard call > base else { return call < base }
    let bit = call - base - 1
    return bit / 64 < words.count && words[bit / 64] >> UInt64(bit % 64) & 1 == 1
  }

  mutating func insert(_ call: Int) {
    guard call != base else {
      let count = 1 + leadingOnes
      base += count
      drop(count)
      return
    }
    let bit = call - base - 1
    while words.count <= bit / 64 { words.append(0) }
    words[bit / 64] |= 1 << UInt64(bit % 64)
  }

  /// How many calls directly behind the base are in the set.
  private var leadingOnes: Int {
    var count = 0
    for word in words {
      let ones = (~word).trailingZeroBitCount
      count += ones
      if ones < 64 { break }
    }
    return count
  }

  /// Shifts the bits down, for a base that is higher by this count.
  private mutating func drop(_ count: Int) {
    guard !words.isEmpty else { return }
    words.removeFirst(min(count / 64, words.count))
    let shift = UInt64(count % 64)
    if shift > 0 {
      for index in words.indices {
        let above = index + 1 < words.count ? words[index + 1] << (64 - shift) : 0
        words[index] = (words[index] >> shift) | above
      }
    }
    while words.last == 0 { words.removeLast() }
  }
}
