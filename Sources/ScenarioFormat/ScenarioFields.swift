package import AppStoreReceipts
import CommandLineTools

/// The members of one object of a scenario file.
///
/// Every member that is asked for counts as known. `end` refuses all others: a misspelled key would otherwise be
/// ignored, and the scenario would test less than its author believes.
package struct ScenarioFields {
  package let path: [ScenarioProblem.Step]
  private let members: [String: JSONValue]
  private var known: [String] = []

  package init(_ value: JSONValue, at path: [ScenarioProblem.Step]) throws(ScenarioProblem) {
    guard let members = value.object else {
      throw ScenarioProblem(path: path, message: "expected an object, not \(value.kind)")
    }
    self.path = path
    self.members = members
  }

  private mutating func ask(_ name: String) { if !known.contains(name) { known.append(name) } }

  package mutating func has(_ name: String) -> Bool {
    ask(name)
    return members[name].map { $0 != .null } ?? false
  }

  /// The member, or a problem that says what it has to be.
  package mutating func value(
    _ name: String, _ expected: String = "a value"
  ) throws(ScenarioProblem) -> JSONValue {
    ask(name)
    guard let value = members[name] else {
      let others = members.keys.filter { !known.contains($0) }.sorted()
      let nearest = Nearest.name(to: name, in: others).replacing("did you mean", with: "is it")
      throw ScenarioProblem(path: path, message: "\"\(name)\" is missing: \(expected)\(nearest)")
    }
    return value
  }

  package func problem(_ name: String, _ message: String) -> ScenarioProblem {
    ScenarioProblem(path: path + [.member(name)], message: message)
  }

  package mutating func text(_ name: String) throws(ScenarioProblem) -> String {
    let value = try value(name, "a text")
    guard let text = value.string, !text.isEmpty else {
      throw problem(name, "expected a text that is not empty, not \(value.kind)")
    }
    return text
  }

  package mutating func text(_ name: String, default missing: String) throws(ScenarioProblem) -> String {
    has(name) ? try text(name) : missing
  }

  package mutating func whole<Number: FixedWidthInteger>(
    _ name: String, in range: ClosedRange<Number>
  ) throws(ScenarioProblem) -> Number {
    let expected = "a whole number from \(range.lowerBound) to \(range.upperBound)"
    let value = try value(name, expected)
    guard let number = value.whole else { throw problem(name, "expected \(expected), not \(value.kind)") }
    guard let fitting = Number(exactly: number), range.contains(fitting) else {
      throw problem(name, "expected \(expected), not \(number)")
    }
    return fitting
  }

  package mutating func whole<Number: FixedWidthInteger>(
    _ name: String, in range: ClosedRange<Number>, default missing: Number
  ) throws(ScenarioProblem) -> Number {
    has(name) ? try whole(name, in: range) : missing
  }

  /// Nil where the member is missing.
  package mutating func wholeIfPresent(_ name: String, in range: ClosedRange<Int>) throws(ScenarioProblem)
    -> Int?
  {
    has(name) ? try whole(name, in: range) : nil
  }

  package mutating func flag(_ name: String) throws(ScenarioProblem) -> Bool {
    guard has(name) else { return false }
    let value = try value(name)
    guard case .bool(let flag) = value else {
      throw problem(name, "expected true or false, not \(value.kind)")
    }
    return flag
  }

  /// A word of a fixed vocabulary.
  package mutating func word<Word: RawRepresentable<String> & CaseIterable>(
    _ name: String, of type: Word.Type
  ) throws(ScenarioProblem) -> Word {
    let text = try text(name)
    guard let word = Word(rawValue: text) else {
      throw unknown(name, text, among: Word.allCases.map(\.rawValue))
    }
    return word
  }

  package func unknown(_ name: String, _ text: String, among words: [String]) -> ScenarioProblem {
    problem(name, "\"\(text)\" is not known" + Self.hint(text, words))
  }

  /// The items of a list, each made into something; none where the member is missing.
  package mutating func list<Item>(
    _ name: String, least: Int = 0,
    _ make: (JSONValue, [ScenarioProblem.Step]) throws(ScenarioProblem) -> Item
  ) throws(ScenarioProblem) -> [Item] {
    guard has(name) else { return [] }
    let value = try value(name)
    guard let values = value.array else { throw problem(name, "expected a list, not \(value.kind)") }
    guard values.count >= least else { throw problem(name, "expected \(least) at least") }
    var items: [Item] = []
    for (number, value) in values.enumerated() {
      items.append(try make(value, path + [.member(name), .item(number)]))
    }
    return items
  }

  package mutating func texts(_ name: String, default missing: [String] = []) throws(ScenarioProblem)
    -> [String]
  {
    guard has(name) else { return missing }
    return try list(name) { (value, path) throws(ScenarioProblem) in
      guard let text = value.string else {
        throw ScenarioProblem(path: path, message: "expected a text, not \(value.kind)")
      }
      return text
    }
  }

  /// Names of the members, for an object whose names are data.
  package var names: [String] { members.keys.sorted() }

  /// To be called when every member that can be here was asked for.
  package func end() throws(ScenarioProblem) {
    guard let name = members.keys.filter({ !known.contains($0) }).min() else { return }
    throw problem(name, "is not known here" + Self.hint(name, known))
  }

  private static func hint(_ text: String, _ words: [String]) -> String {
    let nearest = Nearest.name(to: text, in: words)
    return (nearest.isEmpty ? "." : nearest) + " Known are " + words.joined(separator: ", ")
  }
}

extension JSONValue {
  /// The kind of the value, in the words of a message.
  fileprivate var kind: String {
    switch self {
    case .object: "an object"
    case .array: "a list"
    case .string: "a text"
    case .integer: "a whole number"
    case .number: "a number with a fraction"
    case .bool: "true or false"
    case .null: "null"
    }
  }

  /// A whole number, also one that is written with an exponent or a fraction of zeros.
  fileprivate var whole: Int64? {
    switch self {
    case .integer(let integer): integer
    case .number(let text): Double(text).flatMap(Int64.init(exactly:))
    default: nil
    }
  }
}
