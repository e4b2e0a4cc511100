import AppStoreReceipts
import CommandLineTools
import Foundation
import PurchaseSync
import ScenarioFormat

/// Starts the simulated app: one child process per launch.
struct AppRun {
  let scenario: Scenario
  let client: Client
  var device: Device
  /// The clock of the run.
  let clock: RunClock
  let backend: URL
  let store: URL
  /// Whether messages of the app are shown.
  var isVerbose = false
  /// How far the phone's clock is ahead, in milliseconds.
  var clockShift: Int64 = 0
  var log: RunLog?
  /// Measures how prompt the app is; nil for no measurement.
  var delivery: DeliveryWatch?
  /// Nil without a specification.
  var trace: StepTrace?
  /// A bug that is planted around the engine; nil for none.
  var bug: AppBug?

  /// - Parameters:
  ///   - counts: The file in which the app writes how often it passed each checkpoint.
  ///   - openUntil: The last use of the app does not end before this file exists.
  func start(
    _ launch: Scenario.Launch, _ steps: [AppStep], kill: KillPlan = .none, counts: String? = nil,
    openUntil: String? = nil
  ) throws -> ChildProcess {
    log?.note(.app, .launch, "launched", detail: "signed in: " + launch.signedIn.joined(separator: ", "))
    let words = clock.join()
    var arguments = ["app", "--clock", words.text] + self.arguments(launch, steps) + kill.arguments
    if let counts { arguments += ["--counts", counts] }
    if let openUntil { arguments += ["--open-until", openUntil] }
    if isVerbose { arguments.append("--verbose") }
    if log != nil { arguments.append("--trace") }
    if let trace { arguments += ["--specification", trace.path] }
    if let bug { arguments += ["--plant", bug.rawValue] }
    delivery?.launched()
    let end: @Sendable () -> Void = { [clock, delivery] in
      clock.left(words)
      delivery?.ended()
    }
    do {
      let child = try ChildProcess(arguments, isQuiet: !isVerbose, onEnd: end) { [log, delivery] line in
        if let change = DeliveryChange(line: line) {
          delivery?.changed(at: change.moment)
        } else if !line.isEmpty {
          // An empty line is a sign of life.
          log?.heard(line)
        }
      }
      clock.began(words, as: child.number)
      return child
    } catch {
      end()
      throw error
    }
  }

  /// Blocks until the child has ended, and notes how.
  func end(of child: ChildProcess, _ kill: KillPlan = .none) -> ChildProcess.End {
    let end = child.wait()
    trace?.died(child, end, on: device)
    note(end, kill)
    return end
  }

  /// For the report.
  func note(_ end: ChildProcess.End, _ kill: KillPlan) {
    switch end {
    case .killed: log?.note(.app, .kill, "killed", detail: kill.words)
    case .crashed, .hung: log?.note(.app, .kill, end.complaint ?? "")
    case .ranOutOfTime: log?.note(.app, .exit, "closed before it was done")
    case .exited(let code): log?.note(.app, .exit, "closed", detail: code == 0 ? nil : "exit code \(code)")
    }
  }

  private func arguments(_ launch: Scenario.Launch, _ steps: [AppStep]) -> [String] {
    var arguments = [
      "--client", client.rawValue, "--server", backend.absoluteString, "--store", store.absoluteString,
      "--container", device.container, "--vault", device.keychain,
      "--seconds", "\(scenario.seconds)", "--steps", JSONValue.array(steps.map(\.fileValue)).text,
      "--signed-in", launch.signedIn.joined(separator: ","), "--clock-shift", "\(clockShift)",
    ]
    if let entries = scenario.entries { arguments += ["--entries", "\(entries)"] }
    if scenario.makesOrders { arguments.append("--makes-orders") }
    if scenario.signsReplies { arguments.append("--verifies-replies") }
    if launch.isVaultLocked { arguments.append("--vault-locked") }
    if device.name != Scenario.phone { arguments += ["--phone", device.name] }
    if scenario.unclaimed != .device { arguments += ["--unclaimed", scenario.unclaimed.rawValue] }
    return arguments
  }
}
