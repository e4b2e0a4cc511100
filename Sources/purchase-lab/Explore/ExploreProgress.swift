import CommandLineTools
import Exploration

/// How far an exploration is.
struct ExploreProgress {
  let limits: ExploreLimits
  /// How many marks the simulation has.
  let marks: Int
  private let line = ProgressLine()

  init(_ limits: ExploreLimits, marks: Int) { (self.limits, self.marks) = (limits, marks) }

  func show(_ sum: RunSum) { line.show { Self.words(sum, of: limits, marks: marks, after: $0) } }

  func clear() { line.clear() }

  /// `5120 seeds, 2560/s, 128000 purchases/s, 41 of 52 marks, 0 failed, 0:58 left`.
  static func words(_ sum: RunSum, of limits: ExploreLimits, marks: Int, after seconds: Double) -> String {
    func rate(_ count: Int) -> Int { Int(Double(count) / max(seconds, 0.001)) }
    var words =
      "\(sum.runs) seeds, \(rate(sum.runs))/s, \(rate(sum.figures.purchases)) purchases/s, "
      + "\(sum.marksHit) of \(marks) marks, \(sum.failures) failed"
    if let all = limits.seconds {
      words += ", " + clock(all - seconds) + " left"
    } else if let all = limits.seeds, sum.runs > 0 {
      words += ", " + clock(seconds / Double(sum.runs) * Double(all - UInt64(sum.runs))) + " left"
    }
    return words
  }

  /// `1:05`.
  private static func clock(_ seconds: Double) -> String {
    let whole = Int(max(seconds, 0).rounded(.up))
    return "\(whole / 60):" + (whole % 60 < 10 ? "0" : "") + "\(whole % 60)"
  }
}
