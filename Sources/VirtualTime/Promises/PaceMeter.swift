/// How often things happen in a minute, by kind. Times are milliseconds of a clock that is never set.
package struct PaceMeter<Kind: RawRepresentable<Int> & CaseIterable>: Sendable {
  package static var window: Int64 { 60_000 }

  /// The moments of the last minute, by kind, oldest first.
  private var moments: [[Int64]] = Array(repeating: [], count: Kind.allCases.count)
  /// The most of any minute, by kind.
  package private(set) var most = [Int](repeating: 0, count: Kind.allCases.count)

  package init() {}

  /// Counts one. Returns how many there were in the minute that ends now.
  @discardableResult
  package mutating func count(_ kind: Kind, at now: Int64) -> Int {
    let place = kind.rawValue
    moments[place].append(now)
    if let first = moments[place].first, now - first >= Self.window {
      moments[place].removeAll { now - $0 >= Self.window }
    }
    most[place] = max(most[place], moments[place].count)
    return moments[place].count
  }

  /// The most in any minute.
  package func most(of kind: Kind) -> Int { most[kind.rawValue] }
}
