/// Why a file is no scenario: the place of the mistake, and what was expected there.
package struct ScenarioProblem: Error, Hashable {
  /// From the outermost value: names of members and numbers of items, from 0.
  package var path: [Step]
  /// The expected value, and the value in the file.
  package var message: String

  package init(path: [Step], message: String) { (self.path, self.message) = (path, message) }

  package enum Step: Hashable {
    case member(String)
    case item(Int)
  }

  /// Such as `launches[0].does[2].product`.
  package var place: String {
    var text = ""
    for step in path {
      switch step {
      case .member(let name): text += (text.isEmpty ? "" : ".") + name
      case .item(let number): text += "[\(number)]"
      }
    }
    return text.isEmpty ? "the scenario" : text
  }
}
