import Fleet

/// `bench fleet`: what a simulated device costs, and whether a million cost a hundred times as much as ten thousand.
struct FleetBench {
  static let bars = [1, 2, 3]

  private static let sizes = [10_000, 100_000, 1_000_000]
  /// Devices per request that the backend can answer in a second.
  private static let devicesPerRequest = 500

  let options: BenchOptions

  func measure(_ report: (BenchSection) -> Void) throws {
    // Seconds by size. The sizes take turns, so that ratios compare neighbours in time.
    var seconds: [Int: [Double]] = [:]
    var last: [Int: FleetResult] = [:]
    for _ in 0..<(options.quick ? 1 : 3) {
      for size in Self.sizes {
        var tally: FleetTally?
        let milliseconds = ProcessorTime.milliseconds {
          tally = FleetPolicyName.engine.run(Self.scenario(size))
        }
        seconds[size, default: []].append(milliseconds / 1_000)
        last[size] = tally?.result("engine", wallSeconds: milliseconds / 1_000)
      }
    }
    let (few, many) = (Self.sizes[0], Self.sizes[2])
    let growth = try Statistics.ratios(seconds[many] ?? [], to: seconds[few] ?? []).map {
      $0 / Double(many / few)
    }
    var bars: [Bar] = []
    if options.wants(1) {
      bars.append(
        try .median(
          1, "1,000,000 devices, 4 h outage, 12 h in all", (seconds[many] ?? []).map { $0 * 1_000 },
          .atMost(60_000), .milliseconds))
    }
    if options.wants(2) {
      bars.append(
        Bar(
          number: 2, what: "bytes per device of a million", unit: .count,
          measured: last[many]?.bytesPerDevice, bound: .atMost(96)))
    }
    if options.wants(3) {
      // A fleet that fits into the processor's caches is faster per device.
      bars.append(try .times(3, "growth from 10,000 to 1,000,000, against linear", growth, .atMost(2)))
    }
    report(
      BenchSection(
        title: "the engine's policy, staggered clocks", bars: bars, notes: try notes(seconds, last)))
  }

  private static func scenario(_ devices: Int) -> FleetScenario {
    var scenario = FleetScenario()
    (scenario.devices, scenario.capacity) = (devices, devices / devicesPerRequest)
    return scenario
  }

  private func notes(_ seconds: [Int: [Double]], _ last: [Int: FleetResult]) throws -> [String] {
    var lines = [
      BenchText.left("devices", 12)
        + ["seconds", "us/device", "ns/request", "bytes/device"].map { BenchText.right($0, 14) }.joined()
    ]
    for size in Self.sizes {
      guard let result = last[size] else { continue }
      let time = try Statistics.median(seconds[size] ?? [])
      let requests = Double(result.requestsInFault + result.requestsAfter)
      let cells = [
        BenchText.fixed(time, 2), BenchText.fixed(time * 1e6 / Double(size), 2),
        BenchText.fixed(time * 1e9 / requests, 0), BenchText.fixed(result.bytesPerDevice, 1),
      ]
      lines.append(BenchText.left("\(size)", 12) + cells.map { BenchText.right($0, 14) }.joined())
    }
    return lines
  }
}
