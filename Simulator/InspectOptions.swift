import CommandLineTools

/// The options of `inspect`.
struct InspectOptions: Equatable, CommandOptions {
  static let command = "inspect"

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

  static var table: OptionTable<Self> {
    OptionTable([
      .value("--case", of: "ID", "the history of one entry: its key, or the part after the slash") {
        try $0.choose(.entry($1))
      },
      .value("--order", of: "NUMBER", "the histories of the entries of one order") {
        try $0.choose(.order($1))
      },
      .flag("--json", \.json, "one document"),
    ]) { options, word in
      guard options.path.isEmpty else {
        throw UsageError(message: "inspect takes one file, not '\(word)' as well")
      }
      options.path = word
    }
  }

  func complete() throws {
    guard !path.isEmpty else { throw UsageError(message: "inspect needs the path of a queue's file") }
  }

  private mutating func choose(_ subject: Subject) throws(UsageError) {
    guard self.subject == .everything else {
      throw UsageError(message: "inspect takes one --case or one --order")
    }
    self.subject = subject
  }
}
