/// What `run`, `compare`, `story` and `crash-matrix` have in common.
struct RunSettings: Equatable {
  var seed: UInt64 = 1
  var json = false
  /// Where each run's files are kept.
  var keep: String?
  /// Where the page goes.
  var report: String?
  var jobs = Jobs.usualWidth
  /// Only what is wrong, and the summary.
  var isQuiet = false
  /// What the app and the backend say as well.
  var isVerbose = false

  static let names = ["--seed", "--json", "--keep", "--report", "--jobs", "-q", "-v"]

  /// Takes an option if it is one of these.
  mutating func take(_ option: String, _ arguments: inout Arguments) throws(Command.UsageError) -> Bool {
    switch option {
    case "--seed": seed = try arguments.number(of: option)
    case "--json": json = true
    case "--keep": keep = try arguments.path(of: option)
    case "--report": report = try arguments.path(of: option)
    case "--jobs":
      jobs = try arguments.number(of: option)
      guard (1...64).contains(jobs) else { throw Command.UsageError(message: "--jobs needs 1 to 64") }
    case "-q", "--quiet": isQuiet = true
    case "-v", "--verbose": isVerbose = true
    default: return false
    }
    return true
  }

  static let help = """
      --json          one object per line
      --report FILE   a page with the matrix and a time line of each run
      --keep DIR      keep each run's files below DIR
      --seed N        what random choices follow from (default: 1)
      --jobs N        how many runs at a time (default: one per processor)
      -q, --quiet     only what is wrong, and the summary
      -v, --verbose   what the app says as well, on standard error
    """
}
