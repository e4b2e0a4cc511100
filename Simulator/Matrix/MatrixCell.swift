import FaultInjection

/// What becomes of the phone after the kill.
enum MatrixFate: String, CaseIterable {
  /// The app is opened again.
  case relaunch
  /// The app is deleted and installed again.
  case reinstall
  /// Another Apple ID and another account use the phone for a while.
  case accountSwitch = "account-switch"
  /// The app's files are those of before the run.
  case oldImage = "old-image"
}

/// One kill and what comes after it: `purchases/settle.committed:2/reinstall`.
struct MatrixCell: Hashable {
  var scenario: String
  var point: MatrixPoint
  /// The n-th passage of the point is the last one; the first is 1.
  var hit: Int
  var fate: MatrixFate

  var name: String { "\(scenario)/\(point.name):\(hit)/\(fate.rawValue)" }
  var moment: Failpoints.Moment { .passage(of: point.name, hit: hit) }

  /// Nil for what names no cell.
  init?(name: String) {
    let parts = name.split(separator: "/").map(String.init)
    guard parts.count == 3, Scenario.matrix.contains(where: { $0.name == parts[0] }),
      let fate = MatrixFate(rawValue: parts[2])
    else { return nil }
    let place = parts[1].split(separator: ":").map(String.init)
    guard let point = MatrixPoint.all.first(where: { $0.name == place[0] }),
      let hit = place.count == 2 ? Int(place[1]) : 1, hit > 0
    else { return nil }
    (scenario, self.point, self.hit, self.fate) = (parts[0], point, hit, fate)
  }

  init(scenario: String, point: MatrixPoint, hit: Int, fate: MatrixFate) {
    (self.scenario, self.point, self.hit, self.fate) = (scenario, point, hit, fate)
  }
}
