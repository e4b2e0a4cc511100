import Foundation

/// A row of the table of benches: what `bench NAME` measures.
struct Bench: Sendable {
  var name: String
  /// A line of the usage.
  var summary: String
  /// The numbers of its bars, as `--only` and the report have them.
  var bars: [Int]
  /// Whether it writes below `--directory`.
  var usesDisk = false
  /// Measures what the options ask for, and hands over each section when it is done.
  var measure: @Sendable (BenchOptions, (BenchSection) -> Void) async throws -> Void

  static let all = [
    Bench(
      name: "queue", summary: "measure the queue against its bars", bars: QueueBench.bars, usesDisk: true,
      measure: { try await QueueBench(options: $0).measure($1) }),
    Bench(
      name: "match", summary: "measure the matching of orders", bars: MatchBench.bars,
      measure: { try MatchBench(options: $0).measure($1) }),
    Bench(
      name: "decode", summary: "measure the decoders", bars: DecodeBars.bars, usesDisk: true,
      measure: { try DecodeBars.measure($0, $1) }),
    Bench(
      name: "machine", summary: "measure the sync machine, from order to finish", bars: MachineBench.bars,
      measure: { try MachineBench(options: $0).measure($1) }),
    Bench(
      name: "upload", summary: "measure the uploader against a bare URL session", bars: UploadBench.bars,
      measure: { try await UploadBench(options: $0).measure($1) }),
    Bench(
      name: "serve", summary: "measure the mock backend under load", bars: ServeBench.bars, usesDisk: true,
      measure: { try ServeBench(options: $0).measure($1) }),
  ]

  static var names: [String] { all.map(\.name) }

  static func named(_ name: String) -> Bench? { all.first { $0.name == name } }
}

/// `bench NAME`: measures, reports, and judges.
struct BenchCommand {
  let options: BenchOptions

  func execute() async -> Int32 {
    do {
      let report = try await measure()
      if options.json { Terminal.line(try report.json()) } else { Terminal.line(report.summary) }
      return options.check && report.hasMissed ? ExitCode.promiseBroken : ExitCode.ok
    } catch {
      Terminal.error("purchase-simulator: the bench could not be run: \(error)")
      return ExitCode.internal
    }
  }

  private func measure() async throws -> BenchReport {
    #if DEBUG
      Terminal.error("purchase-simulator: this is a debug build; measure with 'swift build -c release'")
    #endif
    guard let bench = Bench.named(options.bench) else { throw BenchError.unknownBench(options.bench) }
    let clock = ContinuousClock()
    let begin = clock.now
    var report = BenchReport(isQuick: options.quick)
    report.bench = bench.name
    if bench.usesDisk {
      report.directory = URL(fileURLWithPath: options.directory).resolvingSymlinksInPath().path
    } else {
      report.sqlite = nil
    }
    var sections: [BenchSection] = []
    try await bench.measure(options) { section in
      sections.append(section)
      if !options.json { Terminal.line(section.text + "\n") }
    }
    report.sections = sections
    report.seconds = (Double((clock.now - begin).wholeNanoseconds) / 1e8).rounded() / 10
    return report
  }
}
