import Foundation

/// A dictionary of the store that is kept as one row per key, so that a change writes its own row only.
///
/// It remembers the keys that changed since the rows were last taken. As a part of ``KeptState`` it adds these rows to
/// the document's changes and none to the document. Without a file it is encoded whole.
struct StoreRows<Key: StoreKey, Value: Hashable & Codable & Sendable>: Sendable {
  private(set) var values: [Key: Value] = [:]
  /// The keys to write; nil for all, because nothing was taken so far.
  private var changed: Set<Key>?

  init() {}

  init(_ values: [Key: Value]) { self.values = values }

  var keys: Dictionary<Key, Value>.Keys { values.keys }

  var isEmpty: Bool { values.isEmpty }

  subscript(key: Key) -> Value? {
    get { values[key] }
    set {
      changed?.insert(key)
      values[key] = newValue
    }
  }

  subscript(key: Key, default standard: @autoclosure () -> Value) -> Value {
    get { values[key] ?? standard() }
    set { self[key] = newValue }
  }

  /// Every change so far is in the file.
  mutating func forgetChanges() { changed = [] }
}

extension StoreRows: Hashable {
  static func == (left: Self, right: Self) -> Bool { left.values == right.values }

  func hash(into hasher: inout Hasher) { hasher.combine(values) }
}

extension StoreRows: Codable {
  init(from decoder: any Decoder) throws {
    if let source = StoreRowSource.of(decoder) {
      for (key, value) in source.rows(at: decoder.codingPath) {
        values[try StoreRowText.decode(Key.self, key)] = try StoreRowText.decode(Value.self, value)
      }
      forgetChanges()
    } else {
      var list = try decoder.unkeyedContainer()
      while !list.isAtEnd {
        let key = try list.decode(Key.self)
        values[key] = try list.decode(Value.self)
      }
    }
  }

  func encode(to encoder: any Encoder) throws {
    if let sink = StoreRowSink.of(encoder) {
      _ = encoder.container(keyedBy: StoreRowText.NoKey.self)
      let part = StoreRowText.part(encoder.codingPath)
      if changed == nil || sink.isWhole {
        sink.add(.clearPart(part))
        for (key, value) in values { sink.add(try StoreRowText.put(part, key, value)) }
      } else {
        for key in changed ?? [] { sink.add(try StoreRowText.put(part, key, values[key])) }
      }
    } else {
      var list = encoder.unkeyedContainer()
      for key in values.keys.sorted() {
        try list.encode(key)
        try list.encode(values[key])
      }
    }
  }
}

/// A list of the store that is kept as one row per element; see ``StoreRows``.
struct StoreLog<Element: Hashable & Codable & Sendable>: Sendable {
  private(set) var elements: [Element] = []
  /// The positions to write; nil for all.
  private var changed: Set<Int>?

  var count: Int { elements.count }

  subscript(position: Int) -> Element {
    get { elements[position] }
    set {
      changed?.insert(position)
      elements[position] = newValue
    }
  }

  mutating func append(_ element: Element) {
    changed?.insert(elements.count)
    elements.append(element)
  }

  /// Every change so far is in the file.
  mutating func forgetChanges() { changed = [] }
}

extension StoreLog: Hashable {
  static func == (left: Self, right: Self) -> Bool { left.elements == right.elements }

  func hash(into hasher: inout Hasher) { hasher.combine(elements) }
}

extension StoreLog: Codable {
  init(from decoder: any Decoder) throws {
    if let source = StoreRowSource.of(decoder) {
      let rows = try source.rows(at: decoder.codingPath).map { (try StoreRowText.decode(Int.self, $0), $1) }
      for (position, value) in rows.sorted(by: { $0.0 < $1.0 }) {
        // A missing row would give every later transaction another one's id.
        guard position == elements.count else {
          throw DecodingError.dataCorrupted(
            .init(codingPath: decoder.codingPath, debugDescription: "row \(elements.count) is missing"))
        }
        elements.append(try StoreRowText.decode(Element.self, value))
      }
      forgetChanges()
    } else {
      elements = try [Element](from: decoder)
    }
  }

  func encode(to encoder: any Encoder) throws {
    guard let sink = StoreRowSink.of(encoder) else {
      return try elements.encode(to: encoder)
    }
    _ = encoder.container(keyedBy: StoreRowText.NoKey.self)
    let part = StoreRowText.part(encoder.codingPath)
    if changed == nil || sink.isWhole {
      sink.add(.clearPart(part))
      for position in elements.indices { sink.add(try StoreRowText.put(part, position, elements[position])) }
    } else {
      for position in changed ?? [] { sink.add(try StoreRowText.put(part, position, elements[position])) }
    }
  }
}
