/// The members of one object of a story. Every member that is asked for counts as known; `end` refuses the others: what
/// does not happen because of a slip teaches nothing.
struct StoryFields {
  let path: [StoryProblem.Step]
  private let members: [String: StoryNode]
  private var known: [String] = []

  init(_ node: StoryNode, at path: [StoryProblem.Step]) throws(StoryProblem) {
    guard case .object(let members) = node else {
      throw StoryProblem(path: path, message: "expected an object, not \(node.kind)")
    }
    self.path = path
    self.members = Dictionary(members.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
  }

  private mutating func ask(_ name: String) { if !known.contains(name) { known.append(name) } }

  mutating func has(_ name: String) -> Bool {
    ask(name)
    return members[name].map { $0 != .null } ?? false
  }

  /// The member, or a problem that says what it has to be.
  private mutating func value(_ name: String, _ expected: String) throws(StoryProblem) -> StoryNode {
    ask(name)
    guard let value = members[name] else {
      let others = members.keys.filter { !known.contains($0) }.sorted()
      let nearest = Nearest.name(to: name, in: others).replacing("did you mean", with: "is it")
      throw StoryProblem(path: path, message: "\"\(name)\" is missing: \(expected)\(nearest)")
    }
    return value
  }

  func problem(_ name: String, _ message: String) -> StoryProblem {
    StoryProblem(path: path + [.member(name)], message: message)
  }

  mutating func text(_ name: String) throws(StoryProblem) -> String {
    let value = try value(name, "a text")
    guard case .text(let text) = value, !text.isEmpty else {
      throw problem(name, "expected a text that is not empty, not \(value.kind)")
    }
    return text
  }

  mutating func text(_ name: String, default missing: String) throws(StoryProblem) -> String {
    has(name) ? try text(name) : missing
  }

  mutating func whole(_ name: String, in range: ClosedRange<Int64>) throws(StoryProblem) -> Int64 {
    let expected = "a whole number from \(range.lowerBound) to \(range.upperBound)"
    let value = try value(name, expected)
    guard case .whole(let number) = value else {
      throw problem(name, "expected \(expected), not \(value.kind)")
    }
    guard range.contains(number) else { throw problem(name, "expected \(expected), not \(number)") }
    return number
  }

  mutating func whole(
    _ name: String, in range: ClosedRange<Int64>, default missing: Int64
  ) throws(StoryProblem) -> Int64 {
    has(name) ? try whole(name, in: range) : missing
  }

  mutating func flag(_ name: String, default missing: Bool = false) throws(StoryProblem) -> Bool {
    guard has(name) else { return missing }
    let value = try value(name, "true or false")
    guard case .flag(let flag) = value else {
      throw problem(name, "expected true or false, not \(value.kind)")
    }
    return flag
  }

  /// A word of a fixed vocabulary.
  mutating func word<Word: RawRepresentable<String> & CaseIterable>(
    _ name: String, of type: Word.Type
  ) throws(StoryProblem) -> Word {
    let text = try text(name)
    guard let word = Word(rawValue: text) else {
      throw unknown(name, text, among: Word.allCases.map(\.rawValue))
    }
    return word
  }

  func unknown(_ name: String, _ text: String, among words: [String]) -> StoryProblem {
    problem(name, "\"\(text)\" is not known" + Self.hint(text, words))
  }

  /// The items of a list, each with its path; none where the member is missing.
  mutating func list(
    _ name: String, least: Int = 0
  ) throws(StoryProblem) -> [(node: StoryNode, path: [StoryProblem.Step])] {
    guard has(name) else { return [] }
    let value = try value(name, "a list")
    guard case .list(let items) = value else { throw problem(name, "expected a list, not \(value.kind)") }
    guard items.count >= least else { throw problem(name, "expected \(least) at least") }
    return items.enumerated().map { ($1, path + [.member(name), .item($0)]) }
  }

  mutating func texts(_ name: String, default missing: [String] = []) throws(StoryProblem) -> [String] {
    guard has(name) else { return missing }
    var texts: [String] = []
    for (node, path) in try list(name) {
      guard case .text(let text) = node else {
        throw StoryProblem(path: path, message: "expected a text, not \(node.kind)")
      }
      texts.append(text)
    }
    return texts
  }

  /// The member as it is.
  mutating func node(_ name: String, _ expected: String = "a value") throws(StoryProblem) -> StoryNode {
    try value(name, expected)
  }

  /// Names of the members, for an object whose names are data.
  var names: [String] { members.keys.sorted() }

  /// To be called when everything that can be here was asked for.
  func end() throws(StoryProblem) {
    guard let name = members.keys.filter({ !known.contains($0) }).min() else { return }
    throw problem(name, "is not known here" + Self.hint(name, known))
  }

  private static func hint(_ text: String, _ words: [String]) -> String {
    let nearest = Nearest.name(to: text, in: words)
    return (nearest.isEmpty ? "." : nearest) + " Known are " + words.joined(separator: ", ")
  }
}
