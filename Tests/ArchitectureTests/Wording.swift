import Foundation

/// Checks comments, literals, names of tests and pages for words that the glossary has replaced.
struct Wording: Sendable {
  /// Whether the rules are enforced. `PURCHASE_SYNC_WORDING=1` enforces them for one run.
  static let isEnforced = enforced || ProcessInfo.processInfo.environment["PURCHASE_SYNC_WORDING"] == "1"
  private static let enforced = true

  /// Phrases that the glossary has replaced. A phrase matches whole words, in small letters.
  static let replaced: [(phrases: [String], instead: String)] = [
    (["park", "parks", "parked", "parking"], "suspend, or quarantine"),
    (
      ["set aside", "sets aside", "setting aside", "set apart", "sets apart"], "postpone, archive or isolate"
    ),
    (["story", "stories"], "scenario"),
    (["a plant", "the plant", "each plant", "every plant", "plants are", "a plant's"], "planted bug"),
    (["world server", "the world", "a world", "worlds", "shell world"], "simulation, or mock server"),
    (["the shell", "a shell", "of shell"], "engine simulation"),
    (["failpoint", "failpoints"], "checkpoint"),
    (["the cap", "a cap", "capped", "no cap", "caps"], "limit, or ceiling"),
    (
      ["no room", "the room", "has room", "make room", "makes room", "is room", "room is", "room for"],
      "capacity; of a disk, space"
    ),
    (["live a life", "lives of a purchase", "a life of", "life of explore"], "run"),
    (["gatheringfile", "queueopening"], "CoalescedWALFile, QueueOpener"),
  ]

  /// Words for a person or thing that the sentence should name.
  static let vague: Set<Substring> = [
    "somebody", "nobody", "whoever", "anybody", "somebody's", "nobody's", "anybody's",
  ]

  /// Files that must hold a replaced phrase: the rules themselves, and documents of others.
  private static let allowed = ["Tests/ArchitectureTests/", "LICENSE", "/Fixtures/", "/Crashes/"]

  static func applies(to path: String) -> Bool {
    let isText = [".swift", ".md", ".json"].contains { path.hasSuffix($0) } || path == ".ci/run"
    return isText && !allowed.contains { path.contains($0) }
  }

  /// The prose of a file by line, in small letters: a whole page, or the comments and literals of a Swift file.
  ///
  /// - Parameter source: The same file without its prose, if it is known; scanning is the slow part.
  static func prose(of path: String, _ text: String, source: SourceText? = nil) -> [String] {
    let raw = text.lowercased().split(separator: "\n", omittingEmptySubsequences: false)
    guard path.hasSuffix(".swift") else { return raw.map(String.init) }
    let code = (source ?? SourceText(path: path, text)).lines
    return zip(raw, code).map { line, code in
      // A line without prose is the line itself. Bytes that the scanner has blanked are prose.
      if line.utf8.count == code.utf8.count, line == code { return "" }
      let bytes = zip(line.utf8, code.lowercased().utf8).map { $0 == $1 ? UInt8(ascii: " ") : $0 }
      return String(decoding: bytes, as: UTF8.self)
    }
  }

  private static func words(_ line: String) -> [Substring] {
    line.utf8.split { byte in
      switch byte {
      case 0x61...0x7A, 0x30...0x39, 0x27, 0x2B, 0x2D, 0x5F, 0x80...: false  // a-z, 0-9, ', +, -, _
      default: true
      }
    }.map { Substring($0) }
  }

  /// The replaced phrases by their first word.
  private static let phrases: [Substring: [(words: [Substring], instead: String)]] = {
    var byFirst: [Substring: [(words: [Substring], instead: String)]] = [:]
    for (phrases, instead) in replaced {
      for phrase in phrases {
        let words = phrase.split(separator: " ")
        byFirst[words[0], default: []].append((words, instead))
      }
    }
    return byFirst
  }()

  /// Replaced phrases in a file, one for each line. A phrase across a line break is found on its first line.
  static func findings(in path: String, _ text: String) -> [Finding] {
    findings(in: path, prose: prose(of: path, text))
  }

  static func findings(in path: String, prose: [String]) -> [Finding] {
    let lines = prose.map(words)
    var found: [Finding] = []
    for (offset, line) in lines.enumerated() {
      let all = line + (offset + 1 < lines.count ? lines[offset + 1].prefix(2) : [])
      search: for place in line.indices {
        for (words, instead) in phrases[line[place]] ?? [] where all[place...].starts(with: words) {
          let phrase = words.joined(separator: " ")
          found.append(Finding(path: path, line: offset + 1, message: "'\(phrase)': the word is \(instead)"))
          break search
        }
      }
    }
    return found
  }

  /// The number of comment lines, and the vague words in comments.
  static func vagueness(of path: String, _ text: String) -> (lines: Int, words: [Finding]) {
    vagueness(of: path, prose: prose(of: path, text))
  }

  static func vagueness(of path: String, prose: [String]) -> (lines: Int, words: [Finding]) {
    guard path.hasSuffix(".swift") else { return (0, []) }
    var count = 0
    var found: [Finding] = []
    for (offset, line) in prose.enumerated() where !line.isEmpty {
      // Prose before the slashes is the text of a literal.
      guard let slashes = line.firstRange(of: "//") else { continue }
      if line[..<slashes.lowerBound].allSatisfy({ $0 == " " }) { count += 1 }
      for word in words(String(line[slashes.upperBound...])) where vague.contains(word) {
        found.append(Finding(path: path, line: offset + 1, message: "'\(word)': name who or what it is"))
      }
    }
    return (count, found)
  }
}
