import FaultInjection
import Foundation
import PurchaseQueue
import PurchaseSyncTesting

/// One cell: the second launch of its scenario, killed at its point, then its fate, and the app opened again until
/// nothing is left to do. The store is in this process, and outlives whatever is killed.
struct MatrixRun {
  let ground: MatrixGround
  /// Nil for a run that nobody kills.
  let cell: MatrixCell?
  let device: Device
  let settings: RunSettings
  var log: RunLog?

  /// Whether the kill was met, and what became of the purchases.
  func run(countsBelow directory: String? = nil) throws -> (wasKilled: Bool, score: Score) {

    let started = Date()
    let store = try WorldServer(
      databasePath: device.directory + "/store.sqlite", products: ServedProducts.all,
      bundleID: ServeCommand.bundleID, onRequest: { [log] in log?.saw($0) }, now: Timestamp.wallClock)
    try store.start()
    defer { store.stop() }
    store.withStore { $0 = ground.store }
    let isBackends = cell?.point.process == .backend
    let backend = try BackendProcess(
      database: device.world, store: store.baseURL, crash: isBackends ? cell?.moment : nil,
      counts: directory.map { $0 + "/backend.json" }, isQuiet: !settings.isVerbose, log: log)
    let app = AppRun(
      scenario: ground.scenario, client: .engine, device: device, backend: backend.url, store: store.baseURL,
      isVerbose: settings.isVerbose, log: log)
    let ends: [ChildProcess.End]
    do {
      ends = try play(app, store, isBackends, counts: directory.map { $0 + "/app.json" })
      try backend.end()
    } catch {
      // The first failure is what counts.
      do { try backend.end() } catch { Terminal.error("purchase-simulator: \(error)") }
      throw error
    }
    let world = try WorldSnapshot(store: store.withStore { $0 }, backendAt: device.world)
    var score = Score(
      ground.scenario, client: .engine, world: world, kept: try device.kept(),
      seconds: Date().timeIntervalSince(started))
    // The first may be killed as planned; whatever else ends otherwise than by itself is a failure.
    let wasKilled = ends.first == .killed
    score.unexpected += (wasKilled && !isBackends ? ends.dropFirst() : ends[...]).compactMap(\.complaint)
    return (wasKilled || backend.wasKilled, score)
  }

  /// How each run of the app ended.
  private func play(
    _ app: AppRun, _ store: WorldServer, _ isBackends: Bool, counts: String?
  ) throws -> [ChildProcess.End] {
    let launch = ground.scenario.launches[1]
    let before = ground.store.charges.count
    let fate = isBackends ? Fate.none : Fate(crash: cell?.moment)
    var ends = [try app.start(launch, launch.does, fate: fate, counts: counts).wait()]
    app.note(ends[0], fate)
    if let cell { ends += try suffer(cell.fate, app, store) }
    // Somebody who has not been charged tries again; nobody pays twice.
    let charged = store.withStore { $0.charges.count } - before
    let rest = AppStep.steps(launch.does, afterPurchases: charged)
    ends.append(try app.start(Scenario.Launch(does: rest), rest).wait())
    app.note(ends[ends.count - 1], .none)
    return ends
  }

  private func suffer(
    _ fate: MatrixFate, _ app: AppRun, _ store: WorldServer
  ) throws -> [ChildProcess.End] {
    log?.note(.person, .change, fate.rawValue)
    switch fate {
    case .relaunch: break
    case .reinstall: try device.reinstall()
    case .oldImage: try device.restore()
    case .accountSwitch:
      store.withStore { $0.signIn(device: Scenario.phone, storeAccount: "apple-2") }
      let others = Scenario.Launch(signedIn: ["bob"])
      let end = try app.start(others, [.use(milliseconds: 30)]).wait()
      app.note(end, .none)
      store.withStore { $0.signIn(device: Scenario.phone, storeAccount: Scenario.storeAccount) }
      return [end]
    }
    return []
  }
}
