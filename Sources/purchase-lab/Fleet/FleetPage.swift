import CommandLineTools
import Fleet
import Foundation

/// The content of `fleet --report`. Written as JSON into the page (`ReportPage.html(_:)`); the page's script reads
/// exactly these names.
struct FleetPage: Encodable {
  var title = "purchase-lab fleet"
  /// The command that made the page.
  var command: String
  /// ISO 8601.
  var madeAt: String
  /// The scenario in words.
  var scenario: String
  var devices: Int
  var capacity: Int
  /// When the fault ends, in points of the curves.
  var healed: Int
  /// Seconds per point.
  var step = FleetCurves.step
  var policies: [Policy]
  var phases: [Phase]

  struct Policy: Encodable {
    var name: String
    var verdict: FleetVerdict.Kind
    var words: String
    /// A name and a value each.
    var figures: [ReportFigure]
    /// The highest load of a second, in requests.
    var load: [Int]
    var delivered: [Int]
  }

  /// One system of the metastable study, by its load.
  struct Phase: Encodable {
    var name: String
    var ranges: [Range]
    var words: String

    struct Range: Encodable {
      var state: MetastableStudy.State
      /// Loads over the capacity.
      var from: Double
      var to: Double
    }
  }
}

extension FleetPage {
  init(_ options: FleetOptions, _ runs: [(FleetResult, FleetCurves)], command: String, madeAt: Date) {
    self.command = command
    self.madeAt = madeAt.ISO8601Format()
    scenario = FleetCommand.words(options)
    (devices, capacity) = (options.scenario.devices, options.scenario.capacity)
    healed = options.scenario.outage / FleetCurves.step
    policies = runs.map { result, curves in
      let verdict = FleetVerdict(result)
      return Policy(
        name: result.policy, verdict: verdict.kind, words: verdict.words,
        figures: zip(FleetTable.header, FleetTable.row(result)).dropFirst().map {
          ReportFigure(name: $0, value: $1)
        },
        load: curves.peak, delivered: curves.delivered)
    }
    phases = MetastableStudy.Amplifier.allCases.flatMap { amplifier in
      MetastableStudy.Trigger.allCases.map { Self.phase($0, amplifier) }
    }
  }

  private static func phase(
    _ trigger: MetastableStudy.Trigger, _ amplifier: MetastableStudy.Amplifier
  ) -> Phase {
    let found = MetastableStudy.hysteresis(trigger, amplifier)
    let most = 1.5
    let alone = min(found.failsAlone, most)
    let triggered = min(found.failsAfterTrigger, alone)
    return Phase(
      name: "\(trigger.rawValue), \(amplifier.rawValue)",
      ranges: [
        Phase.Range(state: .stable, from: 0, to: triggered),
        Phase.Range(state: .vulnerable, from: triggered, to: alone),
        Phase.Range(state: .failing, from: alone, to: most),
      ],
      words: "once it fails, it recovers at \(FleetTable.decimal(found.recoversAt)) C")
  }
}

extension FleetPage: ReportContent {
  static var template: Data { ReportFiles.fleet }
}
