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
  /// Whether the failure is explained.
  var why = false

  static var table: OptionTable<Self> {
    OptionTable(
      [.number("--seed", \.seed, "which run (default: 1)")] + SimulationChoice.rows(\.choice) + [
        .value("--keep", of: "PLACES", "only these acts, as a failure prints them, or none") {
          $0.keep = try places($1)
        },
        .number("--stop-at", \.stopAt, "up to this event"),
        .flag("--why", \.why, "explain"),
      ])
  }

  static let apart = SimulationChoice.apart

  /// An act that the run does not have would be ignored silently.
  func complete() throws {
    try choice.checkBug(allowsAll: why)
    if why { return }
    let acts = choice.runner().acts(of: seed).indices
    guard let place = keep?.first(where: { !acts.contains($0) }) else { return }
    let numbers = acts.last.map { ", with the places 0 to \($0)" } ?? ""
    throw Command.UsageError(
      message: "there is no act \(place) in seed \(seed) of \(choice.profile.rawValue): it has "
        + Counted.text(acts.count, "act") + numbers)
  }

  private static func places(_ text: String) throws(Command.UsageError) -> [Int] {
    if text == "none" { return [] }
    var places: [Int] = []
    for word in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let place = Int(word) else {
        throw Command.UsageError(message: "--keep needs places of acts such as 3,17, or none, not '\(text)'")
      }
      places.append(place)
    }
    return places
  }
}
