import Foundation

/// `bench upload`: an upload by the engine against one by a bare URL session, in one run, on loopback.
struct UploadBench {
  static let bars = [1, 2]

  let options: BenchOptions
  let child: BenchChild

  static let proofBytes = 8 << 10

  func measure(_ report: (BenchSection) -> Void) async throws {
    var section = BenchSection(title: "uploads of an 8 KB proof on loopback")
    if options.wants(1) {
      let rates = try await self.rates()
      section.bars.append(
        try .times(1, "requests per second, engine / bare", rates.ratios(), .atLeast(0.9)))
      for way in UploadWay.allCases {
        let median = BenchText.fixed(try Statistics.median(rates[way]), 0)
        section.notes.append("\(way.rawValue): \(median) requests per second, one after the other")
      }
    }
    if options.wants(2) { section.bars.append(try memory()) }
    report(section)
  }

  // MARK: Requests per second

  private struct Rates {
    var perSecond: [UploadWay: [Double]] = [:]

    subscript(way: UploadWay) -> [Double] { perSecond[way] ?? [] }

    func ratios() throws(BenchError) -> [Double] { try Statistics.ratios(self[.engine], to: self[.bare]) }
  }

  private func rates() async throws -> Rates {
    try await UploadServer.run { base in
      var rates = Rates()
      var senders: [UploadWay: @Sendable () async throws -> Void] = [:]
      for way in UploadWay.allCases { senders[way] = try way.sender(to: base, proofBytes: Self.proofBytes) }
      for repetition in -1..<(options.quick ? 3 : 15) {
        let round = try await Self.repetition(senders, turns: repetition < 0 ? 2 : 20)
        guard repetition >= 0 else { continue }  // The first run is cold.
        for (way, rate) in round { rates.perSecond[way, default: []].append(rate) }
      }
      return rates
    }
  }

  /// The ways take turns of a few requests, so that a busy moment of the machine affects both.
  private static func repetition(
    _ senders: [UploadWay: @Sendable () async throws -> Void], turns: Int
  ) async throws -> [UploadWay: Double] {
    let clock = ContinuousClock()
    let requestsPerTurn = 25
    var elapsed: [UploadWay: Duration] = [:]
    for turn in 0..<turns {
      // Each is first in every second turn.
      for way in turn.isMultiple(of: 2) ? UploadWay.allCases : UploadWay.allCases.reversed() {
        guard let send = senders[way] else { continue }
        let begin = clock.now
        for _ in 0..<requestsPerTurn { try await send() }
        elapsed[way, default: .zero] += clock.now - begin
      }
    }
    return elapsed.mapValues { Double(turns * requestsPerTurn) * 1e9 / Double($0.wholeNanoseconds) }
  }

  // MARK: Memory

  private func memory() throws -> Bar {
    let what = "growth of memory over many requests, engine / bare"
    guard try PeakMemory.ofThisProcess() != nil else {
      return Bar(number: 2, what: what, bound: .atMost(1.1), reason: "the system has no /proc/self/status")
    }
    var growths: [UploadWay: [Double]] = [:]
    for _ in 0..<(options.quick ? 1 : 5) {
      for way in UploadWay.allCases {
        let arguments = [way.rawValue, options.quick ? "1000" : "5000"]
        guard let kilobytes = try child.kilobytes(arguments, command: "bench-upload") else {
          throw BenchError.noSamples("growth of memory")
        }
        growths[way, default: []].append(kilobytes)
      }
    }
    return try .times(
      2, what, Statistics.ratios(growths[.engine] ?? [], to: growths[.bare] ?? []), .atMost(1.1))
  }
}
