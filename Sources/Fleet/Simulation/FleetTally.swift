/// What a run counts.
package struct FleetTally: Sendable {
  let scenario: FleetScenario
  package internal(set) var curves = FleetCurves()
  var purchases = 0
  var deliveredBacklog = 0
  var deliveredOfNew = 0
  var dropped = 0
  var pending = 0
  var wasted = 0
  var stateBytes = 0
  var wasInterrupted = false
  private var requestsInFault = 0
  private var requestsAfter = 0
  private var deliveredInFault = 0
  private var peak = 0.0
  /// Seconds after the fault at which the parts were delivered.
  private var reached: [Int?] = [nil, nil, nil, nil]
  /// New purchases by the minute after the fault in which they were made.
  private var made: [Int] = []
  private var quick: [Int] = []

  static let parts = [0.5, 0.9, 0.99, 1]

  init(_ scenario: FleetScenario) {
    self.scenario = scenario
    let minutes = (scenario.horizon + FleetCurves.step - 1) / FleetCurves.step
    curves.peak = Array(repeating: 0, count: minutes)
    curves.offered = curves.peak
    curves.delivered = curves.peak
    made = curves.peak
    quick = curves.peak
  }

  mutating func offered(_ count: Int, second: Int, capacity: Double) {
    let minute = second / FleetCurves.step
    curves.peak[minute] = max(curves.peak[minute], count)
    curves.offered[minute] += count
    if second < scenario.outage {
      requestsInFault += count
    } else {
      requestsAfter += count
      peak = max(peak, Double(count) / capacity)
    }
  }

  mutating func madeNew(second: Int) {
    purchases += 1
    made[second / FleetCurves.step] += 1
  }

  mutating func deliveredNew(since: Int, second: Int) {
    deliveredOfNew += 1
    if second - since <= 60 { quick[since / FleetCurves.step] += 1 }
  }

  mutating func endOf(_ second: Int) {
    curves.delivered[second / FleetCurves.step] = deliveredBacklog
    if second < scenario.outage { deliveredInFault = deliveredBacklog }
    guard second >= scenario.outage else { return }
    for (index, part) in Self.parts.enumerated() where reached[index] == nil {
      guard Double(deliveredBacklog) >= part * Double(scenario.devices) else { break }
      reached[index] = second - scenario.outage
    }
  }

  package func result(_ policy: String, wallSeconds: Double) -> FleetResult {
    var result = FleetResult()
    result.policy = policy
    result.devices = scenario.devices
    result.peakOverCapacity = peak
    result.requestsInFault = requestsInFault
    result.requestsAfter = requestsAfter
    result.requestsPerDevice = Double(requestsInFault + requestsAfter) / Double(scenario.devices)
    result.purchases = purchases
    result.delivered = deliveredBacklog + deliveredOfNew
    result.pending = pending
    result.dropped = dropped
    result.wasted = wasted
    let due = purchases - deliveredInFault
    result.amplification = due > 0 ? Double(requestsAfter) / Double(due) : 0
    let wanted = Self.parts[2] * Double(scenario.devices) - Double(deliveredInFault)
    result.bestSecondsTo99 = wanted > 0 ? FleetBackend(scenario).bestSecond(toServe: wanted) : nil
    result.drains = reached[3] != nil
    (result.secondsTo50, result.secondsTo90) = (reached[0], reached[1])
    (result.secondsTo99, result.secondsTo100) = (reached[2], reached[3])
    result.newServedWithinMinute = newServed
    result.wallSeconds = wallSeconds
    result.bytesPerDevice = Double(stateBytes) / Double(scenario.devices)
    result.wasInterrupted = wasInterrupted
    return result
  }

  /// Of the purchases made until everything was delivered, and at least two minutes before the horizon.
  private var newServed: Double? {
    let step = FleetCurves.step
    let end = min((reached[3] ?? .max - scenario.outage) + scenario.outage, scenario.horizon - 2 * step)
    let minutes = scenario.outage / step..<max(end / step + 1, scenario.outage / step)
    let sum = made[minutes].reduce(0, +)
    return sum > 0 ? Double(quick[minutes].reduce(0, +)) / Double(sum) : nil
  }
}
