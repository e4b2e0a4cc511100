/// The result of a workload.
struct ImageTally: Hashable, Sendable, Codable {
  var workload: String
  var control: String?
  /// Places in the log after which the power fails.
  var points = 0
  /// States of the disk that were looked at, equal ones too.
  var states = 0
  /// Different images that were recovered.
  var images = 0
  var lost = 0
  var corrupt = 0
  /// Other invariants that do not hold, and runs with a fault that end wrongly.
  var broken = 0
  /// Calls during which an operation of the disk failed.
  var faults = 0
  /// Those that threw.
  var refused = 0
  /// A hash of the log, the images and their contents. It shows whether two runs are the same.
  var fingerprint: Int64 = 0
  var failures: [ImageFailure] = []

  init(_ workload: String, control: ImageDiscipline = .production) {
    self.workload = workload
    self.control = control == .production ? nil : control.rawValue
  }

  mutating func add(_ failure: ImageFailure) {
    switch failure.kind {
    case .lost: lost += 1
    case .corrupt: corrupt += 1
    case .broken, .fault: broken += 1
    }
    if failures.count < 5 { failures.append(failure) }
  }
}
