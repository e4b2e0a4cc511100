import CommandLineTools
import Foundation
import PurchaseQueue
import PurchaseSyncTesting
import ScenarioFormat

/// A scenario of the matrix, played up to the launch that is killed: made once, and copied for each cell.
struct MatrixStart: Sendable {
  let scenario: Scenario
  /// The store, as a value.
  let store: StoreModel
  /// When the launch that is killed begins.
  let moment: Timestamp
  /// The phone's files and the backend's.
  let directory: String
  /// The trace up to the launch that is killed; empty without a specification.
  private(set) var trace: [String] = []
  /// How often each checkpoint is passed in a run without a kill.
  private(set) var passages: [String: Int] = [:]

  /// Plays the first launch, and then the second once without a kill, to count the checkpoints it passes.
  init(_ scenario: Scenario, in scratch: Scratch, _ settings: RunSettings) throws {
    self.scenario = scenario
    let device = try Device(below: scratch.empty("start-" + scenario.name))
    directory = device.directory
    let trace = settings.isSpecified ? try StepTrace(below: device.directory) : nil
    let environment = try ScenarioEnvironment(
      scenario, on: device, seed: settings.seed, log: nil, trace: trace, onRequest: { _ in })
    defer { environment.server.stop() }
    let first = scenario.launches[0]
    for step in first.before { try environment.perform(step) }
    let app = AppRun(
      scenario: scenario, client: .engine, device: try device.phone(first.phone), clock: environment.clock,
      backend: environment.server.baseURL,
      store: environment.server.baseURL, isVerbose: settings.isVerbose, trace: trace)
    guard case .exited(0) = try app.end(of: app.start(first, first.does)) else {
      throw ChildError(description: "\(scenario.name): the launch before the kill failed")
    }
    try environment.server.dropConnections()
    if first.reinstalled {
      try device.phone(first.phone).reinstall()
      trace?.note(.reinstalled(phone: first.phone))
    }
    for step in scenario.launches[1].before { try environment.perform(step) }
    store = environment.server.withStore { $0 }
    moment = environment.clock.now()
    environment.server.stop()
    let phone = try device.phone(scenario.launches[1].phone)
    try phone.backUp()
    trace?.note(.backedUp(phone: phone.name))
    if let trace { self.trace = try trace.end() }
    passages = try measure(in: scratch, settings)
  }

  private func measure(in scratch: Scratch, _ settings: RunSettings) throws -> [String: Int] {
    let name = "measure-" + scenario.name
    defer { scratch.drop(name) }
    let files = scratch.directory + "/" + name
    let run = MatrixRun(start: self, cell: nil, device: try copy(to: name, in: scratch), settings: settings)
    _ = try run.run(countsBelow: files)
    var counts: [String: Int] = [:]
    for file in ["app.json", "backend.json"] {
      let data = try Data(contentsOf: URL(fileURLWithPath: files + "/" + file))
      counts.merge(try JSONDecoder().decode([String: Int].self, from: data)) { $0 + $1 }
    }
    return counts
  }

  /// Copies the files for one cell.
  func copy(to name: String, in scratch: Scratch) throws -> Device {
    let path = scratch.directory + "/" + name
    if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
    try FileManager.default.copyItem(atPath: directory, toPath: path)
    return try Device(below: path)
  }
}
