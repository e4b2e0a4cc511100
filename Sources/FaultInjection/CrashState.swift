import PurchaseQueue

/// The fates of the operations that are not durable when the power fails.
package struct CrashState: Sendable, Hashable {
  /// Of one operation.
  package enum Fate: Sendable, Hashable {
    case dropped
    case kept
    /// Of a write, so many sectors from its start; the rest never arrived.
    case prefix(Int)
    /// Of a write, sectors that follow from the number.
    case some(UInt32)
    /// Of a write, each sector old, new or noise, as follows from the number.
    case noise(UInt32)
  }

  /// In the order of the operations.
  package var fates: [Fate]

  package init(_ fates: [Fate]) { self.fates = fates }

  package init(all fate: Fate, count: Int) { fates = Array(repeating: fate, count: count) }

  /// One character an operation: `+` kept, `-` dropped, `p3` a prefix, `s7` some sectors, `n7` noise.
  package var text: String {
    var text = ""
    for fate in fates {
      switch fate {
      case .dropped: text += "-"
      case .kept: text += "+"
      case .prefix(let sectors): text += "p\(sectors)"
      case .some(let seed): text += "s\(seed)"
      case .noise(let seed): text += "n\(seed)"
      }
    }
    return text
  }

  /// Nil if it is not such a text.
  package init?(text: String) {
    fates = []
    var rest = text[...]
    while let mark = rest.popFirst() {
      let digits = rest.prefix { $0.isASCII && $0.isNumber }
      switch (mark, UInt32(digits)) {
      case ("-", nil): fates.append(.dropped)
      case ("+", nil): fates.append(.kept)
      case ("p", let number?): fates.append(.prefix(Int(number)))
      case ("s", let number?): fates.append(.some(number))
      case ("n", let number?): fates.append(.noise(number))
      default: return nil
      }
      rest = rest.dropFirst(digits.count)
    }
  }
}

extension CrashState {
  /// States of so many pending operations, at most `cap`: every subset of them if that is half of `cap` at most, else
  /// none, all, all up to one, all but one, only one; each write torn at every sector; and for the rest, subsets and
  /// tears that are drawn.
  package static func states(
    of pending: [DiskOperation], cap: Int, random: inout some RandomNumberGenerator
  ) -> [CrashState] {
    var states = subsets(pending.count, cap: max(2, cap / 2))
    var torn = tornStates(of: pending, random: &random)
    // Which of too many are looked at follows from the seed.
    let room = max(0, cap - states.count)
    if torn.count > room {
      torn.shuffle(using: &random)
      torn.removeLast(torn.count - room)
    }
    states.append(contentsOf: torn)
    guard !torn.isEmpty || 1 << min(pending.count, 20) > states.count else { return states }
    while states.count < cap {
      states.append(CrashState(pending.map { fate(of: $0, random: &random) }))
    }
    return states
  }

  private static func fate(
    of operation: DiskOperation, random: inout some RandomNumberGenerator
  ) -> Fate {
    let number = UInt32(truncatingIfNeeded: random.next() >> 40)
    guard case .write(_, let offset, let bytes) = operation else { return number & 1 == 1 ? .kept : .dropped }
    let sectors = DiskImage.pieces(offset: offset, count: bytes.count).count
    switch random.next() % 8 {
    case 0...1: return .dropped
    case 2...3: return .kept
    case 4 where sectors > 1: return .prefix(1 + Int(number) % (sectors - 1))
    case 5: return .noise(number)
    default: return .some(number)
    }
  }

  private static func subsets(_ count: Int, cap: Int) -> [CrashState] {
    if count < 20, 1 << count <= cap {
      return (0..<1 << count).map { bits in
        CrashState((0..<count).map { bits >> $0 & 1 == 1 ? .kept : .dropped })
      }
    }
    var states = [CrashState(all: .dropped, count: count), CrashState(all: .kept, count: count)]
    for index in 0..<count where states.count + 3 <= cap {
      var one = CrashState(all: .dropped, count: count)
      one.fates[index] = .kept
      var allButOne = CrashState(all: .kept, count: count)
      allButOne.fates[index] = .dropped
      let upTo = CrashState((0..<count).map { $0 <= index ? .kept : .dropped })
      states += [one, allButOne, upTo]
    }
    return states
  }

  /// Each write, torn at every sector or garbled: with what came before it, and with all else.
  private static func tornStates(
    of pending: [DiskOperation], random: inout some RandomNumberGenerator
  ) -> [CrashState] {
    var states: [CrashState] = []
    for (index, operation) in pending.enumerated() {
      guard case .write(_, let offset, let bytes) = operation else { continue }
      let sectors = DiskImage.pieces(offset: offset, count: bytes.count).count
      let seed = UInt32(truncatingIfNeeded: random.next() >> 40)
      var fates: [Fate] = [.noise(seed)]
      if sectors > 1 {
        fates += (1..<sectors).map { .prefix($0) }
        fates.append(.some(seed))
      }
      for fate in fates {
        var behind = CrashState((0..<pending.count).map { $0 < index ? .kept : .dropped })
        behind.fates[index] = fate
        states.append(behind)
        guard pending.count > index + 1 else { continue }
        var amidst = CrashState(all: .kept, count: pending.count)
        amidst.fates[index] = fate
        states.append(amidst)
      }
    }
    return states
  }
}

extension DiskImage {
  /// The parts of a write that each lie in one sector, as ranges of its bytes.
  static func pieces(offset: Int, count: Int) -> [Range<Int>] {
    var pieces: [Range<Int>] = []
    var start = 0
    while start < count {
      let room = FileContent.sectorSize - (offset + start) % FileContent.sectorSize
      let end = min(count, start + room)
      pieces.append(start..<end)
      start = end
    }
    return pieces
  }

  /// Does as much of the operation as its fate leaves.
  mutating func apply(_ operation: DiskOperation, _ fate: CrashState.Fate) {
    switch (fate, operation) {
    case (.dropped, _): return
    case (.kept, _): apply(operation)
    case (.prefix(let sectors), .write(let file, let offset, let bytes)):
      let pieces = Self.pieces(offset: offset, count: bytes.count).prefix(sectors)
      for piece in pieces { write(bytes, piece, file, offset) }
    case (.some(let seed), .write(let file, let offset, let bytes)):
      var random = RandomSource(seed: UInt64(seed))
      for piece in Self.pieces(offset: offset, count: bytes.count) where random.next() & 1 == 1 {
        write(bytes, piece, file, offset)
      }
    case (.noise(let seed), .write(let file, let offset, let bytes)):
      var random = RandomSource(seed: UInt64(seed))
      var noise = bytes
      for piece in Self.pieces(offset: offset, count: bytes.count) {
        switch random.next() % 3 {
        case 0: continue
        case 1:
          for index in piece { noise[index] = UInt8(truncatingIfNeeded: random.next()) }
          write(noise, piece, file, offset)
        default: write(bytes, piece, file, offset)
        }
      }
    default: apply(operation)
    }
  }

  private mutating func write(_ bytes: [UInt8], _ piece: Range<Int>, _ file: Int, _ offset: Int) {
    unsafe bytes.withUnsafeBytes {
      let part = unsafe UnsafeRawBufferPointer(rebasing: $0[piece])
      unsafe files[file, default: FileContent()].write(part, at: offset + piece.lowerBound)
    }
  }
}
