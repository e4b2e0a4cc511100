import Foundation

/// Starts the simulated app: one child process per launch.
struct AppRun {
  let scenario: Scenario
  let client: Client
  let device: Device
  let backend: URL
  let store: URL
  /// What the app complains of is shown.
  var isVerbose = false
  /// How far the phone's clock is ahead, in milliseconds.
  var clockShift: Int64 = 0
  var log: RunLog?

  /// - Parameter counts: Where the app writes how often it passed each failpoint.
  func start(
    _ launch: Scenario.Launch, _ steps: [AppStep], fate: Fate = .none, counts: String? = nil
  ) throws -> ChildProcess {
    log?.note(.app, .launch, "launched", detail: "signed in: " + launch.signedIn.joined(separator: ", "))
    var arguments = ["app"] + (try self.arguments(launch, steps)) + fate.arguments
    if let counts { arguments += ["--counts", counts] }
    if isVerbose { arguments.append("--verbose") }
    guard let log else { return try ChildProcess(arguments, isQuiet: !isVerbose) }
    return try ChildProcess(arguments + ["--trace"], isQuiet: !isVerbose) { log.heard($0) }
  }

  /// For the report.
  func note(_ end: ChildProcess.End, _ fate: Fate) {
    switch end {
    case .killed: log?.note(.app, .kill, "killed", detail: fate.words)
    case .crashed, .hung: log?.note(.app, .kill, end.complaint ?? "")
    case .exited(let code): log?.note(.app, .exit, "closed", detail: code == 0 ? nil : "exit code \(code)")
    }
  }

  private func arguments(_ launch: Scenario.Launch, _ steps: [AppStep]) throws -> [String] {
    var arguments = [
      "--client", client.rawValue, "--server", backend.absoluteString, "--store", store.absoluteString,
      "--container", device.container, "--vault", device.keychain, "--time-scale", "\(scenario.timeScale)",
      "--seconds", "\(scenario.seconds)", "--steps",
      try StoryNode.list(steps.map(\.story)).written(width: .max),
      "--signed-in", launch.signedIn.joined(separator: ","), "--clock-shift", "\(clockShift)",
    ]
    if let entries = scenario.entries { arguments += ["--entries", "\(entries)"] }
    if launch.isVaultLocked { arguments.append("--vault-locked") }
    return arguments
  }
}
