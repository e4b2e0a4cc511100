import Foundation
import PurchaseSyncTesting

/// A scenario of the matrix as it stands before the run that dies: made once, and copied for each cell.
struct MatrixGround: Sendable {
  let scenario: Scenario
  /// The store, as a value.
  let store: StoreModel
  /// The phone's files and the backend's.
  let directory: String
  /// How often each failpoint is passed in a run that nobody kills.
  private(set) var passages: [String: Int] = [:]

  /// Plays the first launch, and then the second once without a kill, to see what it passes.
  init(_ scenario: Scenario, in scratch: Scratch, _ settings: RunSettings) throws {
    self.scenario = scenario
    let device = try scratch.device("ground-" + scenario.name)
    directory = device.directory
    let world = try StoryWorld(scenario, on: device, seed: settings.seed, log: nil, onRequest: { _ in })
    defer { world.server.stop() }
    let first = scenario.launches[0]
    for step in first.before { try world.perform(step) }
    let app = AppRun(
      scenario: scenario, client: .engine, device: device, backend: world.server.baseURL,
      store: world.server.baseURL, isVerbose: settings.isVerbose)
    guard case .exited(0) = try app.start(first, first.does).wait() else {
      throw ChildError(description: "\(scenario.name): the launch before the kill failed")
    }
    if first.reinstalled { try device.reinstall() }
    for step in scenario.launches[1].before { try world.perform(step) }
    store = world.server.withStore { $0 }
    world.server.stop()
    try device.backUp()
    passages = try measure(in: scratch, settings)
  }

  private func measure(in scratch: Scratch, _ settings: RunSettings) throws -> [String: Int] {
    let name = "measure-" + scenario.name
    defer { scratch.drop(name) }
    let files = scratch.directory + "/" + name
    let run = MatrixRun(ground: self, cell: nil, device: try copy(to: name, in: scratch), settings: settings)
    _ = try run.run(countsBelow: files)
    var counts: [String: Int] = [:]
    for file in ["app.json", "backend.json"] {
      let data = try Data(contentsOf: URL(fileURLWithPath: files + "/" + file))
      counts.merge(try JSONDecoder().decode([String: Int].self, from: data)) { $0 + $1 }
    }
    return counts
  }

  /// The files, for a cell of its own.
  func copy(to name: String, in scratch: Scratch) throws -> Device {
    let path = scratch.directory + "/" + name
    if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
    try FileManager.default.copyItem(atPath: directory, toPath: path)
    return try Device(below: path)
  }
}
