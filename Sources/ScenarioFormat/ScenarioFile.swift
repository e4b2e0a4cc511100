import AppStoreReceipts
import Foundation

/// A scenario in a JSON file.
package enum ScenarioFile {
  /// Reads a scenario. The error says the line, the path and what was expected.
  package static func scenario(in text: String) throws(ScenarioFileError) -> Scenario {
    let value: JSONValue
    do throws(ReceiptDecodingError) {
      value = try JSONValue(json: text)
    } catch {
      let line = 1 + text.utf8.prefix(error.offset ?? 0).count(where: { $0 == UInt8(ascii: "\n") })
      throw ScenarioFileError(description: "line \(line): this is no JSON: expected \(error.expected)")
    }
    do throws(ScenarioProblem) {
      return try Scenario(file: value)
    } catch {
      let line = JSONLines(text).line(of: error.path)
      throw ScenarioFileError(description: "line \(line): \(error.place): \(error.message)")
    }
  }

  /// The content of a file with this scenario.
  package static func text(of scenario: Scenario) throws -> String {
    ScenarioText.written(try scenario.fileValue()) + "\n"
  }
}

/// Why a text is no scenario, in one line.
package struct ScenarioFileError: Error, Hashable, CustomStringConvertible {
  package var description: String
}
