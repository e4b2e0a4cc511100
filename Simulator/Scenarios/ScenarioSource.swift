import CommandLineTools
import Foundation
import ScenarioFormat

/// Where a scenario comes from: the name of a built-in one, or a file.
enum ScenarioSource: Hashable {
  case builtIn(Scenario)
  /// A path; `-` for standard input.
  case file(String)

  /// Names that end in `.json` or hold a path separator are files.
  init(_ word: String) throws(UsageError) {
    let isFile = word == "-" || word.hasSuffix(".json") || word.contains("/")
    self = isFile ? .file(word) : .builtIn(try Scenario.named(word))
  }

  /// The exit code of `body`, which gets the scenarios; another one where they cannot be read or `body` fails.
  static func play(_ sources: [ScenarioSource], _ body: ([Scenario]) throws -> Int32) -> Int32 {
    do {
      return try body(try scenarios(sources))
    } catch let error as InputError {
      return error.tell()
    } catch {
      Terminal.complain("\(error)")
      return ExitCode.internal
    }
  }

  /// The scenarios, each once, in this order. Two different ones with the same name would share their files, and are
  /// refused.
  static func scenarios(_ sources: [ScenarioSource]) throws(InputError) -> [Scenario] {
    var found: [Scenario] = []
    for source in sources {
      let scenario = try source.scenario()
      if found.contains(where: { $0.plays(like: scenario) }) { continue }
      guard !found.contains(where: { $0.name == scenario.name }) else {
        throw InputError(
          message: "there are two different scenarios named '\(scenario.name)'", code: ExitCode.badData)
      }
      found.append(scenario)
    }
    return found
  }

  private func scenario() throws(InputError) -> Scenario {
    switch self {
    case .builtIn(let scenario): return scenario
    case .file(let path):
      let text = String(decoding: try InputError.contents(of: path), as: UTF8.self)
      do throws(ScenarioFileError) {
        var scenario = try ScenarioFile.scenario(in: text)
        scenario.file = path
        return scenario
      } catch {
        throw InputError(message: "\(path): \(error)", code: ExitCode.badData)
      }
    }
  }
}

/// A file that a command was given cannot be used.
struct InputError: Error, Hashable {
  var message: String
  /// The exit code of the process.
  var code: Int32

  /// The bytes of a file; `-` is standard input.
  static func contents(of path: String) throws(InputError) -> Data {
    do {
      return path == "-"
        ? try FileHandle.standardInput.readToEnd() ?? Data()
        : try Data(contentsOf: URL(fileURLWithPath: path))
    } catch {
      throw InputError(
        message: "\(path) cannot be read: \(error.localizedDescription)", code: ExitCode.noInput)
    }
  }

  /// Prints the message and returns the exit code.
  func tell() -> Int32 {
    Terminal.complain("\(message)")
    return code
  }
}

extension Scenario {
  static func named(_ name: String, in scenarios: [Scenario] = Scenario.all) throws(UsageError)
    -> Scenario
  {
    guard let scenario = scenarios.first(where: { $0.name == name }) else {
      let nearest = Nearest.name(to: name, in: scenarios.map(\.name))
      throw UsageError(message: "there is no scenario '\(name)'\(nearest)")
    }
    return scenario
  }
}

extension Scenario {
  static let all: [Scenario] =
    crashes + reinstalls + matching + accounts + storeEvents + subscriptions + troubles + disasters
    + buying + ownership + system + waiting + refundedParts + bundles + field + seats
}
