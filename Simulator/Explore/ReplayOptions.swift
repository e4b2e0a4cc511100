import FaultInjection

/// What `replay` is asked to do.
struct ReplayOptions: Equatable {
  var seed: UInt64 = 1
  var profile = ExplorationProfile.swarm
  var storage = ExploredStorage.memory
  var plant: Plant?
  /// The places of the acts that are kept; nil for all.
  var keep: [Int]?
  /// The last event that is told; nil for all.
  var stopAt: Int?

  static func parse(_ arguments: [String]) -> Result<ReplayOptions, Command.UsageError> {
    Result { () throws(Command.UsageError) in try read(arguments) }
  }

  private static func read(_ arguments: [String]) throws(Command.UsageError) -> ReplayOptions {
    var options = ReplayOptions()
    var arguments = Arguments(arguments)
    while let argument = arguments.next() {
      switch argument {
      case "--seed": options.seed = try arguments.number(of: argument)
      case "--profile":
        options.profile = try ExploreOptions.named(try arguments.value(of: argument), "profile")
      case "--storage":
        options.storage = try ExploreOptions.named(try arguments.value(of: argument), "storage")
      case "--plant":
        options.plant = try ExploreOptions.named(try arguments.value(of: argument), "planted bug")
      case "--keep": options.keep = try places(try arguments.value(of: argument))
      case "--stop-at": options.stopAt = try arguments.number(of: argument)
      default:
        let known = ["--seed", "--profile", "--storage", "--plant", "--keep", "--stop-at"]
        let nearest = Nearest.name(to: argument, in: known)
        throw Command.UsageError(message: "replay has no option '\(argument)'\(nearest)")
      }
    }
    try options.checkPlaces()
    return options
  }

  /// An act that a life does not have would be left out without a word, and nothing go wrong for want of it.
  private func checkPlaces() throws(Command.UsageError) {
    let acts = Explorer(profile, .memory, jobs: 1).exploration.acts(of: seed).indices
    guard let place = keep?.first(where: { !acts.contains($0) }) else { return }
    let numbers = acts.last.map { ", with the places 0 to \($0)" } ?? ""
    throw Command.UsageError(
      message: "there is no act \(place) in seed \(seed) of \(profile.rawValue): it has "
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
