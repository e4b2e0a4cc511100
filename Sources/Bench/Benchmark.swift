import Foundation

/// One bench: what `bench NAME` measures.
package struct Benchmark: Sendable {
  package var name: String
  /// A line of the help page.
  package var summary: String
  /// The numbers of its bars, as `--only` and the report have them.
  package var bars: [Int]
  /// Whether it writes below `--directory`.
  package var usesDisk = false
  /// Measures what the options ask for, and hands over each section when it is done.
  var measure: @Sendable (BenchOptions, BenchChild, (BenchSection) -> Void) async throws -> Void

  package static let all = [
    Benchmark(
      name: "queue", summary: "measure the queue against its bars", bars: QueueBench.bars, usesDisk: true,
      measure: { try await QueueBench(options: $0, child: $1).measure($2) }),
    Benchmark(
      name: "match", summary: "measure the matching of orders", bars: MatchBench.bars,
      measure: { try MatchBench(options: $0).measure($2) }),
    Benchmark(
      name: "decode", summary: "measure the decoders", bars: DecodeBars.bars, usesDisk: true,
      measure: { try DecodeBars.measure($0, $1, $2) }),
    Benchmark(
      name: "machine", summary: "measure the sync machine, from order to finish", bars: MachineBench.bars,
      measure: { try MachineBench(options: $0).measure($2) }),
    Benchmark(
      name: "purchase", summary: "measure a purchase through a shop", bars: PurchaseBench.bars,
      usesDisk: true, measure: { try PurchaseBench(options: $0, child: $1).measure($2) }),
    Benchmark(
      name: "upload", summary: "measure the uploader against a bare URL session", bars: UploadBench.bars,
      measure: { try await UploadBench(options: $0, child: $1).measure($2) }),
    Benchmark(
      name: "serve", summary: "measure the mock backend under load", bars: ServeBench.bars, usesDisk: true,
      measure: { try ServeBench(options: $0, child: $1).measure($2) }),
    Benchmark(
      name: "fleet", summary: "measure the simulation of a fleet", bars: FleetBench.bars,
      measure: { try FleetBench(options: $0).measure($2) }),
  ]

  package static var names: [String] { all.map(\.name) }

  package static func named(_ name: String) -> Benchmark? { all.first { $0.name == name } }

  /// Measures, and hands over each section when it is done.
  package func run(
    _ options: BenchOptions, _ child: BenchChild, _ show: (BenchSection) -> Void
  ) async throws -> BenchReport {
    let clock = ContinuousClock()
    let begin = clock.now
    var report = BenchReport(isQuick: options.quick)
    report.bench = name
    if usesDisk {
      report.directory = URL(fileURLWithPath: options.directory).resolvingSymlinksInPath().path
    } else {
      report.sqlite = nil
    }
    var sections: [BenchSection] = []
    try await measure(options, child) { section in
      sections.append(section)
      show(section)
    }
    report.sections = sections
    report.seconds = (Double((clock.now - begin).wholeNanoseconds) / 1e8).rounded() / 10
    return report
  }
}
