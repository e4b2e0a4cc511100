/// A reference from code, a test or a page to a fact of the documentation, such as "StoreFacts a.5" or "invariant 12".
struct Citation: Hashable, Sendable {
  var line: Int
  /// The name that `Anchors` knows: "StoreFacts a.5", "StoreFacts pitfall 16", "R4.5", "invariant 12".
  var anchor: String

  /// Every citation in a text. Line breaks and comment markers within a citation do not matter.
  static func all(in text: String) -> [Citation] {
    var reader = CitationReader(text)
    return reader.read()
  }
}

/// Reads a text word by word.
private struct CitationReader {
  private struct Word {
    var text: Substring
    var line: Int
  }

  private static let opening: Set<Character> = ["(", "[", "`", "'", "\"", "*", "|"]
  private static let closing: Set<Character> = [
    ")", "]", "`", "'", "\"", "*", "|", ",", ".", ";", ":", "?", "!",
  ]

  private let words: [Word]
  private var found: [Citation] = []

  init(_ text: String) {
    var words: [Word] = []
    var wasMarked = false
    for (offset, line) in text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
      let isMarked = Self.mayCite(line)
      // A citation may go on in the next line, not further.
      if isMarked || wasMarked {
        for word in line.split(whereSeparator: { $0 == 0x20 || $0 == 0x09 || $0 == 0x2F }) {
          words.append(Word(text: Substring(word), line: offset + 1))
        }
      } else if words.last?.text != "." {
        words.append(Word(text: ".", line: offset + 1))
      }
      wasMarked = isMarked
    }
    self.words = words
  }

  /// Whether the line has the beginning of a citation: "StoreFacts", "nvariant", or an R with a digit.
  private static func mayCite(_ line: Substring.UTF8View) -> Bool {
    var previous: UInt8 = 0
    for byte in line {
      switch (previous, byte) {
      case (0x52, 0x30...0x39), (0x65, 0x46), (0x6E, 0x76): return true  // "R4", "eF", "nv"
      default: previous = byte
      }
    }
    return false
  }

  mutating func read() -> [Citation] {
    for place in words.indices {
      requirements(in: words[place])
      switch core(place) {
      case "StoreFacts": storeFacts(after: place)
      case "invariant", "invariants", "Invariant", "Invariants": numbers(after: place)
      default: break
      }
    }
    return found
  }

  /// The word without the punctuation around it; "" behind the end.
  private func core(_ place: Int) -> Substring {
    guard words.indices.contains(place) else { return "" }
    var text = words[place].text
    while let first = text.first, Self.opening.contains(first) { text.removeFirst() }
    while let last = text.last, Self.closing.contains(last) { text.removeLast() }
    return text
  }

  private mutating func add(_ anchor: String, at place: Int) {
    found.append(Citation(line: words[place].line, anchor: anchor))
  }

  // MARK: R4.5, R2

  private mutating func requirements(in word: Word) {
    for part in word.text.split(whereSeparator: { !$0.isLetter && !$0.isNumber && $0 != "." && $0 != "_" }) {
      var name = part
      while name.last == "." { name.removeLast() }
      guard name.first == "R", let digit = name.dropFirst().first, digit.isASCII, digit.isNumber else {
        continue
      }
      let numbers = name.dropFirst().split(separator: ".", omittingEmptySubsequences: false)
      guard numbers.count <= 2, numbers.allSatisfy({ Int($0) != nil }) else { continue }
      found.append(Citation(line: word.line, anchor: String(name)))
    }
  }

  // MARK: StoreFacts a.5, StoreFacts pitfall 16

  private mutating func storeFacts(after place: Int) {
    if endsSentence(place) { return }
    var next = place + 1
    repeat {
      let word = core(next)
      if word == "section", core(next + 1) == "0" {
        next += 1
        add("StoreFacts section 0", at: next)
      } else if word == "pitfall" || word == "pitfalls" {
        return pitfalls(after: next)
      } else if words.indices.contains(next), words[next].text.hasPrefix("'") {
        return title(from: next)
      } else if Self.isSection(word) {
        add("StoreFacts \(word)", at: next)
      } else {
        return
      }
    } while follow(&next)
  }

  /// "a", "d.2", and anything else that has the shape of a number.
  private static func isSection(_ word: Substring) -> Bool {
    guard let first = word.first else { return false }
    if first.isNumber { return true }
    if word.count == 1 { return "abcd".contains(first) }
    return word.dropFirst().first == "." && word.dropFirst(2).first?.isNumber == true
  }

  private mutating func pitfalls(after place: Int) {
    var next = place + 1
    repeat {
      guard Int(core(next)) != nil else { return }
      add("StoreFacts pitfall \(core(next))", at: next)
    } while follow(&next)
  }

  /// 'Same thing, different spelling': a heading.
  private mutating func title(from place: Int) {
    var title: [Substring] = []
    for next in place..<min(place + 8, words.count) where words[next].text != "///" {
      title.append(words[next].text.drop { $0 == "'" })
      guard let end = title.last?.lastIndex(of: "'") else { continue }
      title[title.count - 1] = title[title.count - 1][..<end]
      break
    }
    add("StoreFacts '\(title.joined(separator: " "))'", at: place)
  }

  // MARK: invariant 12, invariants 1, 6 and S3

  private mutating func numbers(after place: Int) {
    if endsSentence(place) { return }
    var next = place + 1
    repeat {
      var word = core(next)
      if word.first == "S" { word = word.dropFirst() }
      // "8-11" and "28–30" name both ends.
      let ends = word.split { $0 == "-" || $0 == "–" }
      guard !ends.isEmpty, ends.allSatisfy({ Int($0) != nil }) else { return }
      let prefix = core(next).first == "S" ? "S" : ""
      for end in ends { add("invariant \(prefix)\(end)", at: next) }
    } while follow(&next)
  }

  // MARK: Lists

  /// Goes to the next item of a list: behind a comma, "and", "or" or "to".
  private func follow(_ place: inout Int) -> Bool {
    guard words.indices.contains(place + 1) else { return false }
    if words[place].text.hasSuffix(",") {
      place += ["and", "or"].contains(words[place + 1].text) ? 2 : 1
      return true
    }
    guard !endsSentence(place), ["and", "or", "to"].contains(words[place + 1].text) else { return false }
    place += 2
    return true
  }

  private func endsSentence(_ place: Int) -> Bool {
    guard let last = words[place].text.last else { return false }
    return [")", ".", ";", ":", "|", "\"", "`", "]"].contains(last)
  }
}
