import Foundation

/// How much a property test tries. The usual run is short: a developer waits for it. The environment
/// variable `PURCHASE_SYNC_LONG_TESTS` makes it long; CI sets it in a step of its own.
public enum LongTests {
  /// Whether the environment asks for the long run.
  public static let areOn = ProcessInfo.processInfo.environment["PURCHASE_SYNC_LONG_TESTS"] != nil

  /// A number that the environment asks for, for a run that is too long for CI.
  public static func number(_ variable: String) -> Int? {
    ProcessInfo.processInfo.environment[variable].flatMap { Int($0) }
  }

  /// The number of seeds, rounds or cases of a test.
  public static func count(short: Int, long: Int) -> Int { areOn ? long : short }

  /// The seeds of a random test: the same few in a short run. Of a long run the environment says the first one,
  /// `PURCHASE_SYNC_FIRST_SEED`, so that each commit tries others, and perhaps `PURCHASE_SYNC_SEEDS`, how many.
  public static func seeds(short: Int, long: Int) -> Range<UInt64> {
    guard areOn else { return 1..<1 + UInt64(short) }
    let first = UInt64(number("PURCHASE_SYNC_FIRST_SEED") ?? 1)
    return first..<first + UInt64(number("PURCHASE_SYNC_SEEDS") ?? long)
  }

  /// The cases of a test: each of them in a long run, every `step`-th of them, the first included, in a short one.
  public static func some<Case>(_ cases: [Case], every step: Int) -> [Case] {
    areOn ? cases : cases.indices.filter { $0.isMultiple(of: step) }.map { cases[$0] }
  }
}
