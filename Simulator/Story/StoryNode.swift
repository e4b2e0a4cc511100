import Foundation

/// A JSON value. Members are in the order in which they are to be written.
indirect enum StoryNode: Hashable {
  case object([Member])
  case list([StoryNode])
  case text(String)
  case whole(Int64)
  case fraction(Double)
  case flag(Bool)
  case null

  struct Member: Hashable {
    var name: String
    var value: StoryNode
  }

  /// What it is, in the words of a message.
  var kind: String {
    switch self {
    case .object: "an object"
    case .list: "a list"
    case .text: "a text"
    case .whole: "a whole number"
    case .fraction: "a number with a fraction"
    case .flag: "true or false"
    case .null: "null"
    }
  }
}

extension StoryNode: Decodable {
  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let members = try Self.attempt({ try decoder.container(keyedBy: AnyKey.self) }) {
      self = .object(
        try members.allKeys.sorted { $0.stringValue < $1.stringValue }.map {
          Member(name: $0.stringValue, value: try members.decode(StoryNode.self, forKey: $0))
        })
    } else if var items = try Self.attempt({ try decoder.unkeyedContainer() }) {
      var list: [StoryNode] = []
      while !items.isAtEnd { list.append(try items.decode(StoryNode.self)) }
      self = .list(list)
    } else if let flag = try Self.attempt({ try value.decode(Bool.self) }) {
      self = .flag(flag)
    } else if let number = try Self.attempt({ try value.decode(Double.self) }) {
      // Beyond this a double skips whole numbers; no story needs them.
      let isWhole = number == number.rounded() && abs(number) <= 9_007_199_254_740_992
      self = isWhole ? .whole(Int64(number)) : .fraction(number)
    } else {
      self = .text(try value.decode(String.self))
    }
  }

  /// Nil where the value is of another type; that is how a decoder is asked what a value is.
  private static func attempt<Value>(_ body: () throws -> Value) throws -> Value? {
    do {
      return try body()
    } catch DecodingError.typeMismatch {
      return nil
    }
  }

  struct AnyKey: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { return nil }
  }
}

extension StoryNode: Encodable {
  func encode(to encoder: any Encoder) throws {
    switch self {
    case .object(let members):
      var container = encoder.container(keyedBy: AnyKey.self)
      for member in members {
        try container.encode(member.value, forKey: AnyKey(stringValue: member.name))
      }
    case .list(let items):
      var container = encoder.unkeyedContainer()
      for item in items { try container.encode(item) }
    case .text(let value): try Self.write(value, encoder)
    case .whole(let value): try Self.write(value, encoder)
    case .fraction(let value): try Self.write(value, encoder)
    case .flag(let value): try Self.write(value, encoder)
    case .null:
      var container = encoder.singleValueContainer()
      try container.encodeNil()
    }
  }

  private static func write(_ value: some Encodable, _ encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(value)
  }
}

extension StoryNode {
  /// As people write it: what is short stands in one line, what is longer has a line for each part.
  func written(indent: String = "", width: Int = 100) throws -> String {
    let line = try oneLine()
    if indent.count + line.count <= width { return line }
    let inner = indent + "  "
    switch self {
    case .object(let members):
      let lines = try members.map { member in
        inner + "\"\(member.name)\": " + (try member.value.written(indent: inner, width: width))
      }
      return "{\n" + lines.joined(separator: ",\n") + "\n" + indent + "}"
    case .list(let items):
      let lines = try items.map { inner + (try $0.written(indent: inner, width: width)) }
      return "[\n" + lines.joined(separator: ",\n") + "\n" + indent + "]"
    default: return line
    }
  }

  private func oneLine() throws -> String {
    switch self {
    case .object(let members):
      let parts = try members.map { "\"\($0.name)\": " + (try $0.value.oneLine()) }
      return "{" + parts.joined(separator: ", ") + "}"
    case .list(let items): return "[" + (try items.map { try $0.oneLine() }.joined(separator: ", ")) + "]"
    default:
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.withoutEscapingSlashes]
      return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
  }
}
