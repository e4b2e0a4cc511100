import CommandLineTools

/// The options that `run`, `compare` and `crash-matrix` have in common.
struct RunSettings: Equatable {
  var seed: UInt64 = 1
  var json = false
  /// The folder that keeps each run's files.
  var keep: String?
  /// The file of the report.
  var report: String?
  /// A run waits for its processes and their syncs half of its time.
  var jobs = 2 * Jobs.usualWidth
  /// Whether the specification of the protocol judges each run.
  var isSpecified = false
  /// Print failures and the summary only.
  var isQuiet = false
  /// Print the messages of the app and the backend as well.
  var isVerbose = false

  /// Not of `compare`: only the engine follows the protocol.
  static func specification<Options>(
    _ path: WritableKeyPath<Options, RunSettings>
  ) -> OptionTable<Options>.Row {
    .flag(
      "--specification", path.appending(path: \.isSpecified),
      "give each step of all processes to the specification of the protocol")
  }

  static func rows<Options>(_ path: WritableKeyPath<Options, RunSettings>) -> [OptionTable<Options>.Row] {
    [
      .flag("--json", path.appending(path: \.json), "one object per line"),
      .path(
        "--report", path.appending(path: \.report), of: "FILE",
        "a page with the matrix and a time line of each run"),
      .path("--keep", path.appending(path: \.keep), of: "DIR", "keep each run's files below DIR"),
      .number(
        "--seed", path.appending(path: \.seed), "where random choices start from (default: 1)"),
      .number(
        "--jobs", path.appending(path: \.jobs), in: 1...64,
        "how many runs at a time (default: two per processor)"),
      .flag("-q", long: "--quiet", path.appending(path: \.isQuiet), "print failures and the summary only"),
      .flag(
        "-v", long: "--verbose", path.appending(path: \.isVerbose),
        "print the messages of the app as well, on standard error"),
    ]
  }
}
