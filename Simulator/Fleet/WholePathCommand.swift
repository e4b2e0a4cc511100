import Exploration
import Fleet
import PurchaseQueue

/// `fleet --whole-path`: the same fleet twice. Once with the compact model of each device, once with the production machine
/// and its queue, the models of store and backend, and all invariants. The curves have to agree.
struct WholePathCommand {
  let scenario: FleetScenario
  let json: Bool

  /// A share of all devices, or of a number.
  private static let tolerance = 0.05

  struct Document: Encodable {
    var devices: Int
    /// The largest distance of the two delivery curves, as a share of all devices.
    var distance: Double
    var requests: [Int]
    var secondsTo50: [Int?]
    var secondsTo99: [Int?]
    var checks: Int
    var violation: String?
    var agrees: Bool
  }

  /// - Parameter scenario: The comparison has no new purchases after the fault: a compact device sends them with the old.
  init(_ scenario: FleetScenario, json: Bool) {
    self.scenario = scenario
    self.json = json
  }

  func execute() throws -> Int32 {
    var scenario = scenario
    scenario.purchasesPerDay = 0
    let progress = FleetProgress("the real machine", horizon: scenario.horizon)
    let compact = FleetPolicyName.engine.run(scenario) { _ in !Interruption.shared.isAsked }
    let whole = try WholeFleet(
      devices: scenario.devices, acts: Self.acts(scenario), horizon: scenario.horizon, seed: scenario.seed,
      disks: ExploredDisks.maker(.memory))
    defer { whole.remove() }
    let backend = FleetBackend(scenario)
    whole.run { second, offered in
      Int(FleetBackend.goodput(offered: Double(offered), capacity: backend.capacity(at: second)))
    } goesOn: { second in
      progress.show(second)
      return !Interruption.shared.isAsked
    }
    progress.clear()
    if let code = Interruption.shared.exitCode { return code }
    whole.complete()
    let document = Self.compared(scenario, compact.curves, whole)
    if json { Terminal.json(document) } else { Self.lines(document).forEach(Terminal.line) }
    return document.agrees ? ExitCode.ok : ExitCode.promiseBroken
  }

  /// What the people of the compact model do, drawn anew.
  static func acts(_ scenario: FleetScenario) -> [WholeFleet.DeviceAct] {
    var random = RandomSource(seed: ~scenario.seed)
    var acts: [WholeFleet.DeviceAct] = []
    for device in 0..<scenario.devices {
      let at = scenario.clocks == .aligned ? 0 : random.below(max(scenario.outage, 1) * 1_000)
      acts.append(.init(device: device, at: Int64(at), kind: .buys))
    }
    var openings = 0.0
    for second in 0..<scenario.horizon {
      openings += FleetForeground.openings(scenario, second: second)
      while openings >= 1 {
        openings -= 1
        let device = random.below(scenario.devices)
        acts.append(.init(device: device, at: Int64(second * 1_000 + random.below(1_000)), kind: .opensApp))
      }
    }
    return acts
  }

  private static func compared(
    _ scenario: FleetScenario, _ compact: FleetCurves, _ whole: WholeFleet
  ) -> Document {
    let devices = Double(scenario.devices)
    let distance = zip(compact.delivered, whole.curves.delivered).map { abs(Double($0 - $1)) / devices }.max()
    let requests = [compact.offered.reduce(0, +), whole.curves.offered.reduce(0, +)]
    func seconds(_ part: Double, _ delivered: [Int]) -> Int? {
      delivered.firstIndex { Double($0) >= part * devices }.map {
        ($0 + 1) * FleetCurves.step - scenario.outage
      }
    }
    let both = [compact.delivered, whole.curves.delivered]
    let isNear = abs(Double(requests[0] - requests[1])) <= tolerance * Double(requests[0])
    let violation = whole.violation
    return Document(
      devices: scenario.devices, distance: distance ?? 1, requests: requests,
      secondsTo50: both.map { seconds(0.5, $0) }, secondsTo99: both.map { seconds(0.99, $0) },
      checks: whole.checks, violation: violation.map(FailureScenario.sentence),
      agrees: violation == nil && isNear && (distance ?? 1) <= tolerance)
  }

  private static func lines(_ document: Document) -> [String] {
    func text(_ seconds: Int?) -> String { seconds.map { "\($0) s" } ?? "never" }
    let table = [
      ["", "compact model", "real machine"],
      ["requests", String(document.requests[0]), String(document.requests[1])],
      ["half is delivered after", text(document.secondsTo50[0]), text(document.secondsTo50[1])],
      ["99 % are delivered after", text(document.secondsTo99[0]), text(document.secondsTo99[1])],
    ]
    let permille = Int((document.distance * 1_000).rounded())
    return TextTable.lines(table) + [
      "the delivery curves are at most \(permille / 10).\(permille % 10) % of the devices apart",
      document.violation ?? "\(document.checks) checks of invariants, none was broken",
      document.agrees ? "the compact model agrees with the real machine" : "THE TWO DIFFER by more than 5 %",
    ]
  }
}
