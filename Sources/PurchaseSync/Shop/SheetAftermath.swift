/// When the shop looks at the store's list after payment sheets that did not say how the payment ended. Without I/O.
///
/// Each such end begins the looks again: the first at once, the others after growing pauses. A look shows the payments of
/// all sheets. After a kill none is needed: each start lists the store.
struct SheetAftermath {
  typealias Instant = ContinuousClock.Instant

  /// From the end of a sheet to the looks after the first, in seconds: a bank's app takes some minutes.
  static let pauses = [5, 15, 45, 120, 300, 600]
  /// The least time between two looks: no number of sheets makes more of them.
  static var pace: Duration { .seconds(1) }

  /// When the newest of these sheets has ended; nil after its last look.
  private var end: Instant?
  /// How many looks there were since.
  private var looks = 0
  private var lastLook: Instant?

  /// A sheet has ended without proof that nothing was charged.
  mutating func begin(at now: Instant) { (end, looks) = (now, 0) }

  /// When the next look is due; nil after the last.
  var next: Instant? {
    guard let end else { return nil }
    let due = looks == 0 ? end : end.advanced(by: .seconds(Self.pauses[looks - 1]))
    return max(due, lastLook?.advanced(by: Self.pace) ?? due)
  }

  /// A look begins. Those that were missed, such as in the background, are not made up for.
  mutating func looked(at now: Instant) {
    lastLook = now
    guard let end else { return }
    looks = 1 + Self.pauses.prefix { end.advanced(by: .seconds($0)) <= now }.count
    if looks > Self.pauses.count { self.end = nil }
  }
}
