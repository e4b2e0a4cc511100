import PurchaseSQLite

/// Outcomes that the app has not seen: they have a bound of their own, and take no capacity from entries.
extension QueueFile {
  /// The name of the fact that counts the outcomes that were never seen.
  private static let forgottenOutcomes = "outcomes.forgotten"

  /// How many outcomes count as seen although the app never saw them, because newer ones needed their place.
  package func outcomesForgotten() throws(QueueError) -> Int {
    try fact(Self.forgottenOutcomes).flatMap(Int.init) ?? 0
  }

  /// Lets the oldest unconfirmed outcomes count as seen while there are too many. Their tombstones stay. Call it inside a
  /// transaction; the caller writes the totals.
  func forgetOldOutcomes(_ totals: inout Totals) throws(QueueError) {
    func hasTooMany() -> Bool { totals.unconfirmed > limits.unconfirmedOutcomes }
    func hasTooManyBytes() -> Bool { totals.dutyBytes > limits.tombstoneBytes / 2 }
    guard totals.unconfirmed > 0, hasTooMany() || hasTooManyBytes() else { return }
    var forgotten = 0
    for old in try tombstonesWithDuties() where old.isUnconfirmed {
      // A tombstone with a pending finish keeps its bytes.
      guard hasTooMany() || hasTooManyBytes() && !old.isFinishPending else { continue }
      var tombstone = old
      tombstone.isUnconfirmed = false
      let changed = tombstone
      totals.count(old, -1)
      totals.count(changed, 1)
      try run(
        statements.tombstones.updateDuties,
        [
          .flag(changed.isFinishPending), .flag(changed.isUnconfirmed), .integer(changed.checksum),
          .text(changed.key.rawValue),
        ])
      forgotten += 1
    }
    guard forgotten > 0 else { return }
    // A count at the largest number stays there.
    let (sum, overflows) = try outcomesForgotten().addingReportingOverflow(forgotten)
    if !overflows { try setFact(Self.forgottenOutcomes, String(sum)) }
  }
}
