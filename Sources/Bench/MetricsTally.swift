import PurchaseSQLite
import PurchaseSync

/// The least that an app does with its measurements: it adds them up.
final class MetricsTally: Sendable {
  private struct Sum {
    var measurements = 0
    var counted = 0
    var seconds = 0.0
  }

  private let sum = Locked(Sum())

  func add(_ measurement: SyncMeasurement) {
    sum.withLock { sum in
      sum.measurements += 1
      switch measurement.value {
      case .count(let count): sum.counted += count
      case .duration: sum.seconds += measurement.number
      }
    }
  }

  /// How many measurements came.
  var count: Int { sum.value.measurements }
}
