package import AppStoreReceipts
import PurchaseSyncTesting

/// Values that several parts of a scenario file use.
extension ScenarioFields {
  /// Ten years: everything that happens to a purchase happens sooner.
  private static let longest: Int64 = 10 * 365 * 86_400_000

  /// Units of time, the longest first.
  fileprivate static let units: [(name: String, milliseconds: Int64)] = [
    ("days", 86_400_000), ("hours", 3_600_000), ("minutes", 60_000), ("seconds", 1_000), ("milliseconds", 1),
  ]

  /// One of `days`, `hours`, `minutes`, `seconds` and `milliseconds`.
  package mutating func duration(mayGoBack: Bool = false) throws(ScenarioProblem) -> Int64 {
    var found: (name: String, milliseconds: Int64)?
    for unit in Self.units where has(unit.name) {
      guard found == nil else { throw problem(unit.name, "expected one unit of time, not two") }
      found = unit
    }
    guard let unit = found else {
      let names = Self.units.map(\.name).joined(separator: ", ")
      throw ScenarioProblem(path: path, message: "a time is missing: one of \(names)")
    }
    let most = Self.longest / unit.milliseconds
    return try whole(unit.name, in: (mayGoBack ? -most : 0)...most) * unit.milliseconds
  }

  /// A product that the store sells.
  package mutating func product(_ name: String = "product") throws(ScenarioProblem) -> String {
    let id = try text(name)
    let sold = ServedProducts.all.map(\.id)
    guard sold.contains(id) else { throw unknown(name, id, among: sold) }
    return id
  }

  package mutating func storeAccount() throws(ScenarioProblem) -> String {
    try text("storeAccount", default: Scenario.storeAccount)
  }

  /// The number of a charge; the first is 1.
  package mutating func purchase() throws(ScenarioProblem) -> Int { try whole("purchase", in: 1...100_000) }
}

extension JSONValue {
  /// `{"do": "buy", …}`.
  package static func step(
    _ verb: String, _ word: some RawRepresentable<String>, _ members: [String: JSONValue] = [:]
  ) -> JSONValue {
    .object(members.merging([verb: .string(word.rawValue)]) { first, _ in first })
  }

  package static func texts(_ texts: [String]) -> JSONValue { .array(texts.map(JSONValue.string)) }
  package static func whole(_ number: some BinaryInteger) -> JSONValue { .integer(Int64(number)) }
}

extension [String: JSONValue] {
  /// In the largest unit that divides it.
  package static func duration(_ milliseconds: Int64) -> Self {
    let fitting = ScenarioFields.units.first { milliseconds != 0 && milliseconds.isMultiple(of: $0.1) }
    let (name, length) = fitting ?? ("milliseconds", 1)
    return [name: .integer(milliseconds / length)]
  }
}
