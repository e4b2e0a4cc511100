import PurchaseSQLite
import PurchaseSync

/// Keeps an engine's measurements.
final class MeasurementLog: Sendable {
  private let log = Locked<[SyncMeasurement]>([])

  func add(_ measurement: SyncMeasurement) { log.withLock { $0.append(measurement) } }

  var all: [SyncMeasurement] { log.value }

  /// The sum of the counts of a name.
  func count(_ name: SyncMeasurement.Name, reason: String? = nil) -> Int {
    all.reduce(0) { sum, measurement in
      guard measurement.name == name, reason == nil || measurement.reason == reason,
        case .count(let count) = measurement.value
      else { return sum }
      return sum + count
    }
  }

  /// The reasons of the durations of a name.
  func durations(_ name: SyncMeasurement.Name) -> [String?] {
    all.filter { $0.name == name }.compactMap { measurement in
      guard case .duration = measurement.value else { return nil }
      return .some(measurement.reason)
    }
  }
}
