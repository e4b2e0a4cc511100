/// One kind of operation of one subject, over all repetitions.
struct Figures: Equatable, Encodable {
  /// The median of the repetitions.
  var perSecond: Double
  /// Microseconds, over the operations of all repetitions.
  var p50: Double
  var p99: Double

  init(_ runs: [Samples]) throws(BenchError) {
    var rates: [Double] = []
    for run in runs { rates.append(try run.perSecond()) }
    let all = Samples(nanoseconds: runs.flatMap(\.nanoseconds))
    perSecond = try Statistics.median(rates)
    p50 = try all.percentile(50) / 1_000
    p99 = try all.percentile(99) / 1_000
  }
}

/// A line of a table of figures.
struct SubjectFigures: Equatable, Encodable {
  var subject: String
  var enqueue: Figures?
  var acknowledge: Figures?
}

/// A part of the report: a table, the bars that follow from it, and remarks.
package struct BenchSection: Equatable, Encodable {
  var title: String
  var figures: [SubjectFigures] = []
  var bars: [Bar] = []
  var notes: [String] = []

  package var text: String {
    var lines = [title]
    if !figures.isEmpty { lines.append(BenchText.figuresHeader) }
    lines += figures.map(BenchText.row)
    lines += bars.map(BenchText.row)
    lines += notes.map { "  " + $0 }
    return lines.joined(separator: "\n")
  }
}
