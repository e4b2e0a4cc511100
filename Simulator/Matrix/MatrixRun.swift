import CommandLineTools
import Foundation
import ProcessFaults
import PurchaseQueue
import PurchaseSyncTesting
import ScenarioFormat

/// One cell: the second launch of its scenario, killed at its checkpoint, then the aftermath, and the app opened again
/// until nothing is left to do. The store runs in this process, so that no kill ends it.
struct MatrixRun {
  let start: MatrixStart
  /// Nil for a run without a kill.
  let cell: MatrixCell?
  let device: Device
  let settings: RunSettings
  var log: RunLog?

  /// Whether the kill was met, and what happened to the purchases.
  func run(countsBelow directory: String? = nil) throws -> (wasKilled: Bool, score: Score) {
    let started = Date()
    let trace =
      settings.isSpecified && cell != nil
      ? try StepTrace(below: device.directory, after: start.trace) : nil
    let clock = try RunClock(
      at: device.directory + "/run-clock", rate: start.scenario.timeScale, from: start.moment)
    let store = try MockServer(
      databasePath: device.directory + "/store.sqlite", products: ServedProducts.all,
      bundleID: ServeCommand.bundleID,
      onRequest: { [log] moment in
        log?.saw(moment)
        trace?.passed(moment)
      }, now: { clock.now() })
    store.withStore { $0 = start.store }
    trace?.watch(store)
    try store.start()
    defer { store.stop() }
    let isBackends = cell?.point.process == .backend
    let backend = try BackendProcess(
      database: device.environment, store: store.baseURL, clock: clock.words,
      crash: isBackends ? cell?.moment : nil,
      counts: directory.map { $0 + "/backend.json" }, isQuiet: !settings.isVerbose, log: log,
      trace: trace)
    let app = AppRun(
      scenario: start.scenario, client: .engine, device: try device.phone(launch.phone), clock: clock,
      backend: backend.url,
      store: store.baseURL,
      isVerbose: settings.isVerbose, log: log, trace: trace)
    let ends: [ChildProcess.End]
    do {
      ends = try play(app, store, isBackends, counts: directory.map { $0 + "/app.json" })
      try backend.end()
    } catch {
      // The first failure is the one to report.
      do { try backend.end() } catch { Terminal.complain("\(error)") }
      throw error
    }
    let environment = try MockSnapshot(store: store.withStore { $0 }, backendAt: device.environment)
    var score = Score(
      start.scenario, client: .engine, environment: environment,
      kept: try device.kept(onPhonesOf: start.scenario),
      seconds: Date().timeIntervalSince(started))
    // The first launch may be killed as planned. Every other end that is not an exit is a failure.
    let wasKilled = ends.first == .killed
    score.crashes = (wasKilled && !isBackends ? ends.dropFirst() : ends[...]).compactMap(\.complaint)
    score.ranOutOfTime = ends.contains(.ranOutOfTime)
    score.judgement = try trace.map { StepJudge.judge(try $0.end()) }
    return (wasKilled || backend.wasKilled, score)
  }

  /// How each launch of the app ended.
  private func play(
    _ app: AppRun, _ store: MockServer, _ isBackends: Bool, counts: String?
  ) throws -> [ChildProcess.End] {
    let before = start.store.charges.count
    let kill = isBackends ? KillPlan.none : KillPlan(crash: cell?.moment)
    var ends = [try app.end(of: app.start(launch, launch.does, kill: kill, counts: counts), kill)]
    // A payment of the killed app that the store has not read yet must not be charged after the charges were counted.
    try store.dropConnections()
    if let cell { ends += try suffer(cell.aftermath, app, store) }
    // The person repeats the purchases that were not charged.
    let charged = store.withStore { $0.charges.count } - before
    let rest = AppStep.steps(launch.does, afterPurchases: charged)
    ends.append(try app.end(of: app.start(Scenario.Launch(does: rest), rest)))
    // What the first launch left on another phone.
    let first = start.scenario.launches[0]
    if first.phone != launch.phone {
      var other = app
      other.device = try device.phone(first.phone)
      ends.append(try other.end(of: other.start(Scenario.Launch(phone: first.phone), [])))
    }
    return ends
  }

  /// The launch that is killed.
  private var launch: Scenario.Launch { start.scenario.launches[1] }

  private func suffer(
    _ aftermath: Aftermath, _ app: AppRun, _ store: MockServer
  ) throws -> [ChildProcess.End] {
    log?.note(.person, .change, aftermath.rawValue)
    switch aftermath {
    case .relaunch: break
    case .reinstall:
      try device.phone(launch.phone).reinstall()
      app.trace?.note(.reinstalled(phone: launch.phone))
    case .oldImage:
      try device.phone(launch.phone).restore()
      app.trace?.note(.setBack(phone: launch.phone))
    case .accountSwitch:
      store.withStore { $0.signIn(device: launch.phone, storeAccount: "apple-2") }
      let others = Scenario.Launch(signedIn: ["bob"])
      let end = try app.end(of: app.start(others, [.use(milliseconds: 30)]))
      store.withStore { $0.signIn(device: launch.phone, storeAccount: Scenario.storeAccount) }
      return [end]
    }
    return []
  }
}
