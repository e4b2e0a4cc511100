/// Suggests the name that a misspelled word may stand for.
package enum Nearest {
  package static func name(to typed: String, in names: [String]) -> String {
    let scored = names.map { (name: $0, distance: distance(typed, $0)) }
    guard let best = scored.min(by: { $0.distance < $1.distance }), best.distance <= max(2, typed.count / 2)
    else { return "" }
    return "; did you mean '\(best.name)'?"
  }

  /// Insertions, deletions and replacements from one word to the other.
  package static func distance(_ left: String, _ right: String) -> Int {
    let target = Array(right)
    var row = Array(0...target.count)
    for (i, character) in left.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for j in target.indices {
        let replaced = diagonal + (target[j] == character ? 0 : 1)
        diagonal = row[j + 1]
        row[j + 1] = min(replaced, row[j] + 1, row[j + 1] + 1)
      }
    }
    return row[target.count]
  }
}
