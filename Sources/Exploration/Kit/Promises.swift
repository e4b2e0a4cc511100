package import Specification

/// A promise that a simulation checks whenever it could be broken. Each simulation has an enum of its own.
package protocol Invariant: CaseIterable, Hashable, Sendable {
  /// Its number in the documentation's list of invariants.
  var number: InvariantNumber { get }
  /// Its position in `allCases`: where its counter is.
  var place: Int { get }
  var sentence: String { get }
  /// How often a thousand seeds have to check it; fewer checks show nothing.
  var minimum: Int { get }
}

/// A rare path. A thousand seeds that miss one show less than it seems.
package protocol Mark: RawRepresentable, CaseIterable, Sendable where RawValue == Int {
  /// What happened on that path.
  var sentence: String { get }
}

/// A bug that an engineer could write, planted in a simulation. No product contains one; the search has to find each.
package protocol PlantedBug: RawRepresentable, CaseIterable, Sendable where RawValue == String {
  /// The wrong idea behind it.
  var summary: String { get }
  /// The rules of the protocol that it breaks; none if it only delays, wastes or says something wrong.
  var rules: Set<ProtocolRule> { get }
}

/// The number of an invariant: 1 to 31, or S1 to S8 where only the engine's simulation checks it.
package struct InvariantNumber: Sendable, Hashable, ExpressibleByIntegerLiteral, ExpressibleByStringLiteral {
  package let text: String

  package init(_ text: String) { self.text = text }
  package init(integerLiteral value: Int) { text = String(value) }
  package init(stringLiteral value: String) { text = value }
}

extension InvariantNumber: CustomStringConvertible, Codable {
  package var description: String { text }

  package init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    do { text = String(try value.decode(Int.self)) } catch { text = try value.decode(String.self) }
  }

  /// A number in JSON where it is one.
  package func encode(to encoder: any Encoder) throws {
    var value = encoder.singleValueContainer()
    if let number = Int(text) { try value.encode(number) } else { try value.encode(text) }
  }
}

/// A broken invariant, at the moment when the simulation saw it.
package struct Violation: Sendable, Hashable, Codable, Error {
  package var invariant: InvariantNumber
  package var sentence: String
  package var what: String
  /// Which event of the run it was, from 1.
  package var event: Int
  /// Virtual time in milliseconds.
  package var at: Int64

  /// In the place of an invariant's number: a step that the specification of the protocol does not allow.
  package static let ofProtocol: InvariantNumber = "P"

  package init(invariant: InvariantNumber, sentence: String, what: String, event: Int, at: Int64) {
    (self.invariant, self.sentence, self.what) = (invariant, sentence, what)
    (self.event, self.at) = (event, at)
  }
}

/// What one simulation checks: its invariants, marks and planted bugs in their order.
package struct SimulationCatalogue: Sendable {
  package struct Promise: Sendable {
    package var number: InvariantNumber
    package var sentence: String
    package var minimum: Int
    /// The planted bug that is made to break it; nil where none is required.
    package var bug: String?
  }

  package struct RarePath: Sendable {
    package var name: String
    package var sentence: String
  }

  package struct Bug: Sendable {
    package var name: String
    package var summary: String
    package var rules: Set<ProtocolRule>
  }

  package let invariants: [Promise]
  package let marks: [RarePath]
  package let bugs: [Bug]
  /// Those that break a rule of the protocol.
  package var protocolBugs: [Bug] { bugs.filter { !$0.rules.isEmpty } }
  /// Invariants that other tests check, and which tests these are.
  package let elsewhere: [String]
  /// Planted bugs that other tests find.
  package let bugsElsewhere: [String]

  init<I: Invariant, M: Mark, B: PlantedBug>(
    _ invariants: I.Type, _ marks: M.Type, _ bugs: B.Type, elsewhere: [String] = [],
    bugsElsewhere: [String] = [], bug: (I) -> B?
  ) {
    self.invariants = I.allCases.map {
      Promise(number: $0.number, sentence: $0.sentence, minimum: $0.minimum, bug: bug($0)?.rawValue)
    }
    self.marks = M.allCases.map { RarePath(name: "\($0)", sentence: $0.sentence) }
    self.bugs = B.allCases.map { Bug(name: $0.rawValue, summary: $0.summary, rules: $0.rules) }
    (self.elsewhere, self.bugsElsewhere) = (elsewhere, bugsElsewhere)
  }

  /// Where the counter of an invariant is.
  package func place(of number: InvariantNumber) -> Int? { invariants.firstIndex { $0.number == number } }
}
