import PurchaseSyncTesting

/// What several parts of a story have in common.
extension StoryFields {
  /// Ten years: further away nothing of a purchase is.
  private static let longest: Int64 = 10 * 365 * 86_400_000

  private static let units: [(name: String, milliseconds: Int64)] = [
    ("days", 86_400_000), ("hours", 3_600_000), ("minutes", 60_000), ("seconds", 1_000), ("milliseconds", 1),
  ]

  /// One of `days`, `hours`, `minutes`, `seconds` and `milliseconds`.
  mutating func duration(mayGoBack: Bool = false) throws(StoryProblem) -> Int64 {
    var found: (name: String, milliseconds: Int64)?
    for unit in Self.units where has(unit.name) {
      guard found == nil else { throw problem(unit.name, "expected one unit of time, not two") }
      found = unit
    }
    guard let unit = found else {
      let names = Self.units.map(\.name).joined(separator: ", ")
      throw StoryProblem(path: path, message: "a time is missing: one of \(names)")
    }
    let most = Self.longest / unit.milliseconds
    return try whole(unit.name, in: (mayGoBack ? -most : 0)...most) * unit.milliseconds
  }

  /// Something that the store sells.
  mutating func product(_ name: String = "product") throws(StoryProblem) -> String {
    let id = try text(name)
    let sold = ServedProducts.all.map(\.id)
    guard sold.contains(id) else { throw unknown(name, id, among: sold) }
    return id
  }

  mutating func storeAccount() throws(StoryProblem) -> String {
    try text("storeAccount", default: Scenario.storeAccount)
  }

  /// Which charge; the first is 1.
  mutating func purchase() throws(StoryProblem) -> Int { Int(try whole("purchase", in: 1...100_000)) }
}

extension StoryNode.Member {
  static func text(_ name: String, _ value: String) -> Self { Self(name: name, value: .text(value)) }
  static func texts(_ name: String, _ values: [String]) -> Self {
    Self(name: name, value: .list(values.map(StoryNode.text)))
  }
  static func whole(_ name: String, _ value: some BinaryInteger) -> Self {
    Self(name: name, value: .whole(Int64(value)))
  }
  static func flag(_ name: String, _ value: Bool) -> Self { Self(name: name, value: .flag(value)) }

  /// In the largest unit that divides it.
  static func duration(_ milliseconds: Int64) -> Self {
    let units: [(String, Int64)] = [
      ("days", 86_400_000), ("hours", 3_600_000), ("minutes", 60_000), ("seconds", 1_000),
    ]
    let fitting = units.first { milliseconds != 0 && milliseconds.isMultiple(of: $0.1) }
    let (name, length) = fitting ?? ("milliseconds", 1)
    return .whole(name, milliseconds / length)
  }
}

extension StoryNode {
  /// `{"do": "buy", …}`.
  static func step(_ verb: String, _ word: some RawRepresentable<String>, _ members: [Member]) -> StoryNode {
    .object([.text(verb, word.rawValue)] + members)
  }
}
