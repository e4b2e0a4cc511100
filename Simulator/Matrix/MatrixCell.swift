import ProcessFaults
import ScenarioFormat

/// The events on the phone after the kill.
enum Aftermath: String, CaseIterable {
  /// The app is opened again.
  case relaunch
  /// The app is deleted and installed again.
  case reinstall
  /// Another Apple ID and another account use the phone for a while.
  case accountSwitch = "account-switch"
  /// The app's files are restored as they were before the run.
  case oldImage = "old-image"
}

/// One kill and its aftermath: `purchases/settle.committed:2/reinstall`.
struct MatrixCell: Hashable {
  var scenario: String
  var point: MatrixPoint
  /// The n-th passage of the checkpoint is the last one; the first is 1.
  var hit: Int
  var aftermath: Aftermath

  var name: String { "\(scenario)/\(point.name):\(hit)/\(aftermath.rawValue)" }
  var moment: Checkpoints.Moment { .passage(of: point.name, hit: hit) }

  init(scenario: String, point: MatrixPoint, hit: Int, aftermath: Aftermath) {
    (self.scenario, self.point, self.hit, self.aftermath) = (scenario, point, hit, aftermath)
  }

  /// Nil if the text names no cell.
  init?(name: String) {
    let parts = name.split(separator: "/").map(String.init)
    guard parts.count == 3, Scenario.matrix.contains(where: { $0.name == parts[0] }),
      let aftermath = Aftermath(rawValue: parts[2])
    else { return nil }
    let place = parts[1].split(separator: ":").map(String.init)
    guard let point = MatrixPoint.all.first(where: { $0.name == place[0] }),
      let hit = place.count == 2 ? Int(place[1]) : 1, hit > 0
    else { return nil }
    self.init(scenario: parts[0], point: point, hit: hit, aftermath: aftermath)
  }
}
