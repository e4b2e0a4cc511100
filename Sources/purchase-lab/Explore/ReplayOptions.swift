import CommandLineTools
import Exploration

/// The options of `replay`.
struct ReplayOptions: Equatable, CommandOptions {
  static let command = "replay"

  var seed: UInt64 = 1
  var choice = SimulationChoice()
  /// The places of the acts that happen; nil for all.
  var keep: [Int]?
  /// The last event of the trace; nil for all.
  var stopAt: Int?
  /// The file of an input; nil for the run of the seed.
  var input: String?
  /// Whether the failure is explained.
  var why = false
  /// The file of the page.
  var report: String?
  var json = false
  /// Whether the command line names the run.
  var hasOwnRun = false
  /// Whether it names the profile: planted bugs are then searched in no other.
  var hasOwnProfile = false

  /// With a planted bug alone: the search finds a failing run of it, and the explanation is measured.
  var measuresPlants: Bool { why && choice.bug != nil && (choice.bug == "all" || !hasOwnRun) }

  static var table: OptionTable<Self> {
    OptionTable(
      [
        OptionTable.Row(name: "--seed", argument: "N", help: "which run (default: 1)") {
          ($0.seed, $0.hasOwnRun) = (try $1.number(of: "--seed", in: nil), true)
        }
      ] + SimulationChoice.rows(\.choice, hasOwnProfile: \.hasOwnProfile) + [
        .value("--keep", of: "PLACES", "only these acts, as a failure prints them, or none") {
          ($0.keep, $0.hasOwnRun) = (try places($1), true)
        },
        .number("--stop-at", \.stopAt, "up to this event"),
        .path("--input", \.input, of: "FILE", "the run of this input, as explore --guided writes it"),
        .flag(
          "--why", \.why,
          "explain the failure: after which event it was likely, which acts it needs; with --plant NAME or all and no "
            + "run: whether the event of the bug is named"),
        .path("--report", \.report, of: "FILE", "with --why: a page with the run event by event"),
        .flag("--json", \.json, "with --why: one JSON document"),
      ])
  }

  static let apart =
    [
      ("--input", ["--seed", "--engine", "--profile", "--keep"]),
      ("--why", ["--engine", "--stop-at", "--input"]),
    ] + SimulationChoice.apart

  /// An act that the run does not have would be ignored silently.
  func complete() throws {
    try checkWhy()
    try choice.checkBug(allowsAll: why)
    if measuresPlants { return }
    let acts = choice.runner().acts(of: seed).indices
    guard let place = keep?.first(where: { !acts.contains($0) }) else { return }
    let numbers = acts.last.map { ", with the places 0 to \($0)" } ?? ""
    throw UsageError(
      message: "there is no act \(place) in seed \(seed) of \(choice.profile.rawValue): it has "
        + Counted.text(acts.count, "act") + numbers)
  }

  private func checkWhy() throws {
    if measuresPlants, report != nil || keep != nil {
      let option = keep == nil ? "--report" : "--keep"
      throw UsageError(message: "\(option) is of one run: name one planted bug, and add --seed N")
    }
    guard !why, report != nil || json else { return }
    throw UsageError(message: "\(json ? "--json" : "--report") needs --why")
  }

  private static func places(_ text: String) throws(UsageError) -> [Int] {
    if text == "none" { return [] }
    var places: [Int] = []
    for word in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let place = Int(word) else {
        throw UsageError(message: "--keep needs places of acts such as 3,17, or none, not '\(text)'")
      }
      places.append(place)
    }
    return places
  }
}
