import Foundation

/// `story FILE`: a scenario that somebody wrote.
struct StoryCommand {
  let options: StoryOptions

  func execute() async -> Int32 {
    let text: String
    do {
      let data =
        options.path == "-"
        ? try FileHandle.standardInput.readToEnd() ?? Data()
        : try Data(contentsOf: URL(fileURLWithPath: options.path))
      text = String(decoding: data, as: UTF8.self)
    } catch {
      Terminal.error("purchase-simulator: \(options.path) cannot be read: \(error.localizedDescription)")
      return ExitCode.noInput
    }
    let scenario: Scenario
    do throws(StoryError) {
      scenario = try StoryFile.scenario(in: text)
    } catch {
      Terminal.error("purchase-simulator: \(options.path): \(error)")
      return ExitCode.badData
    }
    var run = RunOptions()
    run.scenarios = [scenario]
    run.client = options.client
    run.settings = options.settings
    return await RunCommand(options: run).execute()
  }
}

/// What `story` is asked to do.
struct StoryOptions: Equatable {
  /// `-` for standard input.
  var path = ""
  var client = Client.engine
  var settings = RunSettings()

  static func parse(_ arguments: [String]) -> Result<StoryOptions, Command.UsageError> {
    Result { () throws(Command.UsageError) in
      var options = StoryOptions()
      var arguments = Arguments(arguments)
      while let argument = arguments.next() {
        if try options.settings.take(argument, &arguments) { continue }
        switch argument {
        case "--client": options.client = try Client.named(try arguments.value(of: argument))
        case _ where argument.hasPrefix("-") && argument != "-":
          throw .unknownOption(argument, of: "story", among: ["--client"] + RunSettings.names)
        default:
          guard options.path.isEmpty else { throw Command.UsageError(message: "story takes one FILE") }
          options.path = argument
        }
      }
      guard !options.path.isEmpty else { throw Command.UsageError(message: "story needs a FILE, or -") }
      return options
    }
  }
}
