/// What the guided search counts: a pair of an abstract state and an event, of an entry on a phone, of a transaction in
/// the store, or of a line in the backend's ledger.
///
/// One word holds it: 4 bits for the kind, 8 for the event, and 4 for each part of the state.
package struct Behaviour: Hashable, Sendable {
  package enum Kind: UInt64, CaseIterable, Sendable {
    case entry = 1
    case transaction, line
  }

  package let word: UInt64

  package init(word: UInt64) { self.word = word }

  package var kind: Kind? { Kind(rawValue: word & 15) }
  package var event: UInt8 { UInt8(truncatingIfNeeded: word >> 4) }

  /// A part of the state by its place.
  package func part(_ place: Int) -> Int { Int(word >> (12 + 4 * UInt64(place)) & 15) }

  /// Makes the word, part by part.
  struct Builder {
    private(set) var word: UInt64
    private var shift: UInt64 = 12

    init(_ kind: Kind, event: UInt8) { word = kind.rawValue | UInt64(event) << 4 }

    mutating func add(_ part: Int) {
      word |= UInt64(truncatingIfNeeded: part & 15) << shift
      shift += 4
    }
  }
}

/// The behaviours of one run, each once, in the order in which they were first seen.
package final class BehaviourLog {
  package private(set) var seen: [UInt64] = []
  /// Open addressing: a run notes thousands, most of them again.
  private var table = [UInt64](repeating: 0, count: 4_096)

  package init() {}

  func add(_ word: UInt64) {
    var place = slot(of: word)
    while table[place] != 0 {
      if table[place] == word { return }
      place = (place + 1) & (table.count - 1)
    }
    table[place] = word
    seen.append(word)
    if seen.count * 2 > table.count { grow() }
  }

  private func slot(of word: UInt64) -> Int {
    Int(truncatingIfNeeded: (word &* 0x9E37_79B9_7F4A_7C15) >> 32) & (table.count - 1)
  }

  private func grow() {
    table = [UInt64](repeating: 0, count: table.count * 2)
    for word in seen {
      var place = slot(of: word)
      while table[place] != 0 { place = (place + 1) & (table.count - 1) }
      table[place] = word
    }
  }
}
