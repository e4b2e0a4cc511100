/// What `inspect` is asked to do.
struct InspectOptions: Equatable {
  /// Which part of the queue is shown.
  enum Subject: Equatable {
    case everything
    /// The entries of this key, or of this transaction.
    case entry(String)
    case order(String)
  }

  var path = ""
  var subject = Subject.everything
  var json = false

  static func parse(_ arguments: [String]) -> Result<InspectOptions, Command.UsageError> {
    Result { () throws(Command.UsageError) in try read(arguments) }
  }

  private static func read(_ arguments: [String]) throws(Command.UsageError) -> InspectOptions {
    var options = InspectOptions()
    var arguments = Arguments(arguments)
    while let argument = arguments.next() {
      switch argument {
      case "--json": options.json = true
      case "--case": try options.choose(.entry(try arguments.value(of: argument)))
      case "--order": try options.choose(.order(try arguments.value(of: argument)))
      case _ where argument.hasPrefix("-"):
        let nearest = Nearest.name(to: argument, in: ["--case", "--order", "--json"])
        throw Command.UsageError(message: "inspect has no option '\(argument)'\(nearest)")
      default:
        guard options.path.isEmpty else {
          throw Command.UsageError(message: "inspect takes one file, not '\(argument)' as well")
        }
        options.path = argument
      }
    }
    guard !options.path.isEmpty else {
      throw Command.UsageError(message: "inspect needs the path of a queue's file")
    }
    return options
  }

  private mutating func choose(_ subject: Subject) throws(Command.UsageError) {
    guard self.subject == .everything else {
      throw Command.UsageError(message: "inspect takes one --case or one --order")
    }
    self.subject = subject
  }
}
