import PurchaseQueue
import PurchaseSQLite

/// One way to damage a file, its log, or the note of how much of the log is durable. Its name is what a failure prints
/// and `--case` takes: `closed/file/flip/1234`.
struct DamageCase: Hashable, Sendable {
  enum Part: String, Sendable, CaseIterable {
    case file, log, note

    /// What follows the path of the file.
    var suffix: String {
      switch self {
      case .file: ""
      case .log: "-wal"
      case .note: "-lock"
      }
    }
  }

  enum Harm: Hashable, Sendable {
    /// One bit, counted from the first byte's lowest.
    case flip(Int)
    /// A page is zero.
    case zero(Int)
    /// A page holds the bytes of another.
    case repeated(Int, of: Int)
    case swapped(Int, Int)
    /// Everything from a byte on is gone.
    case cut(Int)
  }

  var state: DamageSubject.State
  var part: Part
  var harm: Harm

  var name: String {
    let harm =
      switch harm {
      case .flip(let bit): "flip/\(bit)"
      case .zero(let page): "zero/\(page)"
      case .repeated(let page, let source): "repeat/\(page)-\(source)"
      case .swapped(let one, let other): "swap/\(one)-\(other)"
      case .cut(let byte): "cut/\(byte)"
      }
    return "\(state.rawValue)/\(part.rawValue)/\(harm)"
  }

  /// Nil if it is not the name of one.
  init?(name: String) {
    let words = name.split(separator: "/").map(String.init)
    guard words.count == 4, let state = DamageSubject.State(rawValue: words[0]),
      let part = Part(rawValue: words[1])
    else { return nil }
    let numbers = words[3].split(separator: "-").compactMap { Int($0) }
    switch (words[2], numbers.count) {
    case ("flip", 1): harm = .flip(numbers[0])
    case ("zero", 1): harm = .zero(numbers[0])
    case ("repeat", 2): harm = .repeated(numbers[0], of: numbers[1])
    case ("swap", 2): harm = .swapped(numbers[0], numbers[1])
    case ("cut", 1): harm = .cut(numbers[0])
    default: return nil
    }
    self.state = state
    self.part = part
  }

  init(_ state: DamageSubject.State, _ part: Part, _ harm: Harm) {
    self.state = state
    self.part = part
    self.harm = harm
  }

  var isOfWholePages: Bool { if case .flip = harm { false } else { true } }

  /// Where page or frame `number` is.
  private func page(_ number: Int) -> Range<Int> {
    switch part {
    case .file: number * 1024..<(number + 1) * 1024
    case .log: 32 + number * 1048..<32 + (number + 1) * 1048
    case .note: 0..<LogNote.size
    }
  }

  /// The bytes after the damage.
  func apply(to bytes: [UInt8]) -> [UInt8] {
    var damaged = bytes
    switch harm {
    case .flip(let bit): damaged[bit / 8] ^= 1 << UInt8(bit % 8)
    case .zero(let number): for index in page(number) { damaged[index] = 0 }
    case .repeated(let number, let source): damaged.replaceSubrange(page(number), with: bytes[page(source)])
    case .swapped(let one, let other):
      damaged.replaceSubrange(page(one), with: bytes[page(other)])
      damaged.replaceSubrange(page(other), with: bytes[page(one)])
    case .cut(let end): damaged.removeLast(max(0, damaged.count - end))
    }
    return damaged
  }

  /// The bytes that it touches.
  func touched(of count: Int) -> [Range<Int>] {
    switch harm {
    case .flip(let bit): [bit / 8..<bit / 8 + 1]
    case .zero(let number), .repeated(let number, _): [page(number)]
    case .swapped(let one, let other): [page(one), page(other)]
    case .cut(let end): [min(end, count)..<count]
    }
  }

  /// Every case of whole pages for a part of so many bytes.
  static func pages(_ state: DamageSubject.State, _ part: Part, bytes: Int) -> [DamageCase] {
    // A note is all that its file holds.
    if part == .note { return ([.zero(0)] + (0..<bytes).map(Harm.cut)).map { DamageCase(state, part, $0) } }
    let pages = part == .file ? bytes / 1024 : max(0, bytes - 32) / 1048
    var harms: [Harm] = []
    for page in 0..<pages {
      harms.append(.zero(page))
      for other in 0..<pages where other != page {
        harms.append(.repeated(page, of: other))
        if other > page { harms.append(.swapped(page, other)) }
      }
      let start = part == .file ? page * 1024 : 32 + page * 1048
      harms += [.cut(start), .cut(start + 1), .cut(start + 512)]
    }
    return harms.map { DamageCase(state, part, $0) }
  }
}

/// Every case of a queue: each bit, then the whole pages. The bits are counted and not listed: there are a million.
struct DamageCases: RandomAccessCollection {
  let pages: [DamageCase]
  private let state: DamageSubject.State
  private let bits: [(part: DamageCase.Part, count: Int)]

  init(_ subject: DamageSubject) {
    state = subject.state
    bits = DamageCase.Part.allCases.map { ($0, subject.bytes(of: $0).count * 8) }
    pages = bits.flatMap { DamageCase.pages(subject.state, $0.part, bytes: $0.count / 8) }
  }

  var startIndex: Int { 0 }
  var endIndex: Int { bits.reduce(pages.count) { $0 + $1.count } }

  subscript(place: Int) -> DamageCase {
    var rest = place
    for (part, count) in bits {
      if rest < count { return DamageCase(state, part, .flip(rest)) }
      rest -= count
    }
    return pages[rest]
  }
}
