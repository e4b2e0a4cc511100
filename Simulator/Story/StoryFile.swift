import Foundation

/// The text of a story, and where things stand in it.
struct StoryFile {
  /// Reads a story. A problem says its line, its path and what was expected.
  static func scenario(in text: String) throws(StoryError) -> Scenario {
    let node: StoryNode
    do {
      node = try JSONDecoder().decode(StoryNode.self, from: Data(text.utf8))
    } catch {
      // The decoder's own words hold the line: "… around line 3, column 7."
      throw StoryError(description: "this is no JSON: " + Self.words(of: error))
    }
    do throws(StoryProblem) {
      return try Scenario(story: node)
    } catch {
      let line = JSONLines(text).line(of: error.path)
      throw StoryError(description: "line \(line): \(error.place): \(error.message)")
    }
  }

  /// What a file with this scenario holds.
  static func text(of scenario: Scenario) throws -> String { try scenario.storyNode().written() + "\n" }

  private static func words(of error: any Error) -> String {
    guard case DecodingError.dataCorrupted(let context) = error else { return "\(error)" }
    return context.underlyingError.map { "\($0)" } ?? context.debugDescription
  }
}

/// Why a text is no story, in one line.
struct StoryError: Error, Hashable, CustomStringConvertible {
  var description: String
}
