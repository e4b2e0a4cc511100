/// How far the curves of two runs of a scenario lie apart.
package struct FleetAgreement: Sendable, Equatable {
  /// The greatest distance of the delivery curves, as a part of the fleet.
  package var delivered: Double
  /// The greatest difference of an hour's requests, as a part of them. Hours with less than 1 % of all are not compared.
  package var load: Double

  package static let bound = 0.05

  package var isClose: Bool { delivered <= Self.bound && load <= Self.bound }

  package init(_ one: FleetCurves, _ other: FleetCurves, devices: Int) {
    delivered = zip(one.delivered, other.delivered).map { Double(abs($0 - $1)) / Double(devices) }.max() ?? 0
    let (ours, theirs) = (Self.hours(one.offered), Self.hours(other.offered))
    let least = max(1, ours.reduce(0, +) / 100)
    load =
      zip(ours, theirs).filter { $0.0 >= least }
      .map { Double(abs($0.0 - $0.1)) / Double($0.0) }.max() ?? 0
  }

  private static func hours(_ minutes: [Int]) -> [Int] {
    let width = 3_600 / FleetCurves.step
    return stride(from: 0, to: minutes.count, by: width).map {
      minutes[$0..<min($0 + width, minutes.count)].reduce(0, +)
    }
  }
}
