/// On which line of a JSON text a value begins. The text has been read by a decoder before, so this only counts
/// brackets, strings and line breaks.
package struct JSONLines {
  private let bytes: [UInt8]

  package init(_ text: String) { bytes = Array(text.utf8) }

  /// The line, from 1, of a value, or of the innermost one around it that is there.
  package func line(of path: [ScenarioProblem.Step]) -> Int {
    var position = 0
    skipSpace(&position)
    for step in path {
      guard let next = enter(step, from: position) else { break }
      position = next
    }
    return 1 + bytes[..<min(position, bytes.count)].count(where: { $0 == UInt8(ascii: "\n") })
  }

  /// Where the member or item begins whose parent begins at `start`. Of a member that is its name.
  private func enter(_ step: ScenarioProblem.Step, from start: Int) -> Int? {
    // Named a moment ago: its value comes behind the colon.
    var position = start
    if bytes[safely: position] == UInt8(ascii: "\""), let colon = endOfName(position) { position = colon }
    guard let open = bytes[safely: position], open == UInt8(ascii: "{") || open == UInt8(ascii: "[") else {
      return nil
    }
    position += 1
    var number = 0
    while true {
      skipSpace(&position)
      guard let byte = bytes[safely: position], byte != UInt8(ascii: "}"), byte != UInt8(ascii: "]") else {
        return nil
      }
      if isHere(step, number, at: position) { return position }
      skipItem(&position)
      number += 1
    }
  }

  private func isHere(_ step: ScenarioProblem.Step, _ number: Int, at position: Int) -> Bool {
    switch step {
    case .item(let wanted): return wanted == number
    case .member(let name):
      var end = position
      skipString(&end)
      return Array("\"\(name)\"".utf8)[...] == bytes[position..<min(end, bytes.count)]
    }
  }

  /// Behind the colon and the space after a name; nil if it is a value and no name.
  private func endOfName(_ start: Int) -> Int? {
    var position = start
    skipString(&position)
    skipSpace(&position)
    guard bytes[safely: position] == UInt8(ascii: ":") else { return nil }
    position += 1
    skipSpace(&position)
    return position
  }

  /// Behind the next comma of this level, or to the closing bracket.
  private func skipItem(_ position: inout Int) {
    var depth = 0
    while let byte = bytes[safely: position] {
      switch byte {
      case UInt8(ascii: "\""):
        skipString(&position)
        continue
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        if depth == 0 { return }
        depth -= 1
      case UInt8(ascii: ",") where depth == 0:
        position += 1
        return
      default: break
      }
      position += 1
    }
  }

  private func skipString(_ position: inout Int) {
    position += 1
    while let byte = bytes[safely: position], byte != UInt8(ascii: "\"") {
      position += byte == UInt8(ascii: "\\") ? 2 : 1
    }
    position += 1
  }

  private func skipSpace(_ position: inout Int) {
    while let byte = bytes[safely: position], [0x20, 0x0A, 0x0D, 0x09].contains(byte) { position += 1 }
  }
}

extension [UInt8] {
  fileprivate subscript(safely index: Int) -> UInt8? { index < count ? self[index] : nil }
}
